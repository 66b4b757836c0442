/* Prints libFuzzer's dictionary: names, choices, examples and defaults of the key table, and signs
 * and numbers that are hard to guess. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/keys.h"

/* Bytes that are not plain are written \xNN. */
static void put(const char *text, size_t length)
{
    if (!length)
        return;
    putchar('"');
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            printf("\\x%02X", c);
        else
            putchar(c);
    }
    printf("\"\n");
}

static void put_text(const char *text)
{
    if (text)
        put(text, strlen(text));
}

int main(void)
{
    static const char *const signs[] = {
        "--set ",
        ": ",
        "{",
        "}",
        "[",
        "]",
        ", ",
        "- ",
        "? ",
        "&a ",
        "*a",
        "!!int ",
        "!a ",
        "<<: ",
        "---\n",
        "...\n",
        "%YAML 1.1\n",
        "%TAG ! a\n",
        "#",
        "|\n",
        ">-\n",
        "'",
        "\"",
        "\\u0085",
        "\xef\xbb\xbf",
        "\xff\xfe",
        "\xc2\x85",
        "\xe2\x80\xa8",
        "\n  ",
        "\n    ",
        "\r\n",
        "\t",
        "~",
        "null",
        "-0",
        "1e308",
        "1e-308",
        "5e-324",
        "1e999",
        "0x10",
        ".inf",
        "nan",
        "2147483647",
        "2147483648",
        "9999999999",
        "9223372036854775808",
        "1e-320 m",
        "1e300 s",
        "0.5773",
        " m/s",
        " m2/s",
        " kg/m3",
        " 1/s",
        " m^-9",
        " min",
        " h",
        "=",
        ".",
    };
    for (const struct key *k = key_table; k->path; k++) {
        for (const char *at = k->path; *at;) {
            const size_t length = strcspn(at, ".");
            if (*at != '*' && *at != '<')
                put(at, length);
            at += length + (at[length] == '.');
        }
        put_text(k->example);
        put_text(k->fallback);
        if (!strpbrk(k->path, "*<")) {
            put_text(k->path);
        }
        for (int i = 0; k->choices && k->choices[i]; i++)
            put_text(k->choices[i]);
    }
    for (int f = 0; key_faces[f]; f++)
        put_text(key_faces[f]);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        put_text(signs[i]);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
