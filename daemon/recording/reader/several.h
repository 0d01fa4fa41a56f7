/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several recordings at once, and the labels by which they are compared. */
#ifndef RECORDING_READER_SEVERAL_H
#define RECORDING_READER_SEVERAL_H

#include "recording.h"

/*
 * recording_open_all - open several recordings
 * @paths: @nr files, which must outlive the recordings
 * @nr: number of files
 * @behind: number of files after "--": these get one label and those before it another; if 0
 *	or @nr, recordings keep the labels of their recordings
 *
 * Returns the recordings in that order; NULL if one cannot be opened, after reporting it.
 * recording_close_all() accepts NULL.
 */
struct recording **recording_open_all(char *const *paths, size_t nr, size_t behind);
/* Number of arguments after the first "--". Call it before getopt, which reorders them. */
size_t recording_behind_dashes(int argc, char *const *argv);
void recording_close_all(struct recording **rec, size_t nr);

/* Number of recordings before rec[@i] with the same label. */
size_t recording_nth_of_label(struct recording *const *rec, size_t i);

#endif
