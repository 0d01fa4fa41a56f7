/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTTP server: a process of its own, without capabilities, that parses what clients send.
 * It asks the daemon for a text over a local socket, at most a few times a second, and gets it
 * as a file in memory, so that no client delays the daemon.
 */
#ifndef GCHINTD_HTTP_H
#define GCHINTD_HTTP_H

#include <stdint.h>

/* Descriptors of the process: the listening socket and the socket to the daemon. */
#define HTTP_LISTEN  3
#define HTTP_CHANNEL 4

/* The option of gchintd that starts it. */
#define HTTP_OPTION "http-server"

/*
 * The daemon's first message is the token, TOKEN_SIZE bytes, "" for none. Each request is
 * answered by one message of one byte, with a descriptor of the text (SCM_RIGHTS) unless
 * there is no memory for it.
 */
struct http_request {
	uint8_t audience; /* enum metrics_for */
	uint8_t format; /* enum metrics_format */
};

/* Runs until the daemon ends; the process's exit code. */
int http_run(void);

#endif
