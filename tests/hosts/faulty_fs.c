/* A file system that shows a folder and has faults (FUSE). Each host mounts it by itself, so hosts
 * do not share caches, and none sees the locks of another: as network file systems can be.
 *
 *     faulty_fs FOLDER MOUNTPOINT [options of FUSE]
 *
 * What it does is in files of the folder's parent, which are read again at each use; none: nothing.
 *     sync_ms   milliseconds that each fsync takes more
 *     quota     bytes that all files may take; beyond them EDQUOT
 *     stall     while this file exists, no call returns */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <fuse.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static char root[PATH_MAX / 2];

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static FILE *fault(const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/../%s", root, name);
    return fopen(path, "r");
}

/* The number in a fault's file; 0: there is none. */
static double number(const char *name)
{
    FILE *const file = fault(name);
    double value = 0;
    if (file && fscanf(file, "%lf", &value) != 1)
        value = 0;
    if (file)
        fclose(file);
    return value;
}

/* The real path, after a stall. */
static const char *real(const char *path, char out[PATH_MAX])
{
    for (FILE *stall; (stall = fault("stall")); sleep_ms(20))
        fclose(stall);
    snprintf(out, PATH_MAX, "%s%s", root, path);
    return out;
}

static int answer(long result)
{
    return result < 0 ? -errno : (int)result;
}

static double all_bytes;

static int add_size(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)path, (void)where;
    all_bytes += kind == FTW_F ? (double)info->st_size : 0;
    return 0;
}

/* Do the files take more than they may if this one grows to `end` bytes? */
static int beyond_quota(int fd, off_t end)
{
    const double quota = number("quota");
    struct stat info;
    if (quota == 0 || fstat(fd, &info) || end <= info.st_size)
        return 0;
    all_bytes = (double)(end - info.st_size);
    nftw(root, add_size, 16, FTW_PHYS);
    return all_bytes > quota;
}

#define REAL(path) real(path, (char[PATH_MAX]){0})
#define FD(fi) ((int)(fi)->fh)

static int fs_getattr(const char *path, struct stat *info, struct fuse_file_info *fi)
{
    (void)fi;
    return answer(lstat(REAL(path), info));
}
static int fs_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t at,
                      struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
    (void)at, (void)fi, (void)flags;
    DIR *const d = opendir(REAL(path));
    if (!d)
        return -errno;
    for (const struct dirent *e; (e = readdir(d));)
        fill(buffer, e->d_name, NULL, 0, 0);
    closedir(d);
    return 0;
}
static int fs_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
    const int fd = open(REAL(path), (fi->flags & ~O_APPEND) | O_CREAT, mode);
    fi->fh = (uint64_t)fd;
    return fd < 0 ? -errno : 0;
}
static int fs_open(const char *path, struct fuse_file_info *fi)
{
    const int fd = open(REAL(path), fi->flags & ~O_APPEND);
    fi->fh = (uint64_t)fd;
    return fd < 0 ? -errno : 0;
}
static int fs_read(const char *path, char *out, size_t size, off_t at, struct fuse_file_info *fi)
{
    REAL(path);
    return answer(pread(FD(fi), out, size, at));
}
static int fs_write(const char *path, const char *in, size_t size, off_t at,
                    struct fuse_file_info *fi)
{
    REAL(path);
    return beyond_quota(FD(fi), at + (off_t)size) ? -EDQUOT : answer(pwrite(FD(fi), in, size, at));
}
static int fs_fallocate(const char *path, int mode, off_t at, off_t size, struct fuse_file_info *fi)
{
    REAL(path);
    if (beyond_quota(FD(fi), at + size))
        return -EDQUOT;
    return answer(fallocate(FD(fi), mode, at, size));
}
static int fs_fsync(const char *path, int data, struct fuse_file_info *fi)
{
    (void)data;
    REAL(path);
    sleep_ms((long)number("sync_ms"));
    return answer(fsync(FD(fi)));
}
static int fs_release(const char *path, struct fuse_file_info *fi)
{
    (void)path;
    return answer(close(FD(fi)));
}
static int fs_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
    return answer(fi ? ftruncate(FD(fi), size) : truncate(REAL(path), size));
}
static int fs_rename(const char *from, const char *to, unsigned flags)
{
    return flags ? -EINVAL : answer(rename(REAL(from), REAL(to)));
}
static int fs_unlink(const char *path)
{
    return answer(unlink(REAL(path)));
}
static int fs_mkdir(const char *path, mode_t mode)
{
    return answer(mkdir(REAL(path), mode));
}
static int fs_rmdir(const char *path)
{
    return answer(rmdir(REAL(path)));
}
static int fs_access(const char *path, int mode)
{
    return answer(access(REAL(path), mode));
}
static int fs_chmod(const char *path, mode_t mode, struct fuse_file_info *fi)
{
    (void)fi;
    return answer(chmod(REAL(path), mode));
}
static int fs_utimens(const char *path, const struct timespec t[2], struct fuse_file_info *fi)
{
    (void)fi;
    return answer(utimensat(AT_FDCWD, REAL(path), t, AT_SYMLINK_NOFOLLOW));
}
static int fs_statfs(const char *path, struct statvfs *info)
{
    return answer(statvfs(REAL(path), info));
}

static const struct fuse_operations operations = {
    .getattr = fs_getattr,
    .readdir = fs_readdir,
    .create = fs_create,
    .open = fs_open,
    .read = fs_read,
    .write = fs_write,
    .fallocate = fs_fallocate,
    .fsync = fs_fsync,
    .release = fs_release,
    .truncate = fs_truncate,
    .rename = fs_rename,
    .unlink = fs_unlink,
    .mkdir = fs_mkdir,
    .rmdir = fs_rmdir,
    .access = fs_access,
    .chmod = fs_chmod,
    .utimens = fs_utimens,
    .statfs = fs_statfs,
};

int main(int count, char **arguments)
{
    if (count < 3 || snprintf(root, sizeof root, "%s", arguments[1]) >= (int)sizeof root)
        return 2;
    arguments[1] = arguments[0];
    return fuse_main(count - 1, arguments + 1, &operations, NULL);
}
