/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Buffered capture of IIO devices through libiio: every conversion of the device with the
 * kernel's own time stamp, instead of polling. Without libiio these are no-ops, and all
 * devices are read through sysfs.
 */
#ifndef SOURCE_IIO_BUFFER_H
#define SOURCE_IIO_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct source_context;
struct iio_buffers;

/* Captures from each device that supports it; NULL if none does. */
struct iio_buffers *iio_buffers_start(struct source_context *context);
void iio_buffers_stop(struct iio_buffers *b);
/* Whether "iio:deviceN" is captured. */
bool iio_buffers_has(const struct iio_buffers *b, const char *entry);

/* "ina226-0" for iio:device0 of that name. */
void iio_device_name(const char *sysfs, const char *entry, char *buf, size_t size);

#endif
