/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The picture of a flame graph: one SVG file that loads nothing, with a script that zooms, searches
 * and changes colours. The width of a frame is its weight; its colour is the layer that it belongs
 * to, or of two profiles the change from one to the other.
 */
#ifndef GCHINTCTL_FLAME_PICTURE_H
#define GCHINTCTL_FLAME_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum flame_layer {
	FLAME_PROGRAM,
	FLAME_COLLECTOR,
	FLAME_RUNTIME,
	FLAME_METHOD,
	FLAME_KERNEL,
	FLAME_LAYERS
};

/* What the weight of a frame is. */
enum flame_unit {
	FLAME_SAMPLES,
	FLAME_JOULES,
	FLAME_BYTES,
};

/**
 * struct flame_node - a frame below its callers, with all that it calls
 * @child: the first frame that it calls
 * @next: the next frame of its caller
 * @name: a number that the picture's name() knows
 * @layer: its colour
 * @n: samples
 * @known: of these, samples with a known frequency
 * @before: samples of the profile that it is compared with
 * @khz: sum over @known
 * @weight: in the picture's unit
 * @joules: NAN or 0 not known
 */
struct flame_node {
	struct flame_node *child, *next;
	uint32_t name;
	enum flame_layer layer;
	size_t n, known, before;
	double khz, weight, joules;
};

/**
 * struct flame_picture - how a tree is drawn
 * @title: plain text
 * @name: text of a name's number
 * @names: passed to it
 * @unit: of the weights
 * @seconds: CPU time that a sample stands for
 * @before: the same of the profile that it is compared with; 0: no comparison
 * @watts: the energy of frames is known
 * @alone: a file of its own, with the script; a page has that once
 */
struct flame_picture {
	const char *title;
	const char *(*name)(const void *names, uint32_t name);
	const void *names;
	enum flame_unit unit;
	double seconds, before;
	bool watts, alone;
};

/* Returns the frame of that name that @node calls, which may be new; NULL without memory. */
struct flame_node *flame_node_enter(struct flame_node *node, uint32_t name);
/* Frees a root with all below it; NULL is ignored. */
void flame_node_free(struct flame_node *root);

void flame_picture_write(const struct flame_picture *pic, const struct flame_node *root, FILE *f);

extern const char flame_picture_script[];

#endif
