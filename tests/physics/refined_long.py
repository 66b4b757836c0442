#!/usr/bin/python3
pass
