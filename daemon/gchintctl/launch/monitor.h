/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GCHINTCTL_MONITOR_H
#define GCHINTCTL_MONITOR_H

#include <stdbool.h>

/**
 * monitor_listen - write the configuration of a recorder that answers monitors
 * @address: ADDRESS:PORT, [ADDRESS]:PORT, or :PORT of this machine alone (loopback)
 * @service: label of what it exports
 * @config: the file to write
 * @quiet: do not print where it is, and with which token
 *
 * The token is made the first time, and kept for the next: $XDG_CONFIG_HOME/gchint/metrics-token.
 * Returns an exit code, after a message.
 */
int monitor_listen(const char *address, const char *service, const char *config, bool quiet);

#endif
