// SPDX-License-Identifier: GPL-2.0-or-later
/* Folded stacks, and the flame graph: by samples of CPU time, or by their energy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/amount.h"
#include "../ctl.h"
#include "flame-picture.h"
#include "profile.h"
#include "sample-energy.h"

#define TITLE 1024

/* Code of the runtime that runs in a phase is the collector's. */
static enum flame_layer frame_layer(const struct profile_frame *f, bool phase)
{
	switch (f->kind) {
	case PROFILE_PROGRAM:
		return FLAME_PROGRAM;
	case PROFILE_PHASE:
		return FLAME_COLLECTOR;
	case PROFILE_METHOD:
		return FLAME_METHOD;
	case PROFILE_KERNEL:
		return FLAME_KERNEL;
	default:
		return phase ? FLAME_COLLECTOR : FLAME_RUNTIME;
	}
}

static void node_add_sample(struct flame_node *node, const struct profile_sample *s, double weight,
			    double joules)
{
	node->n++;
	node->weight += weight;
	node->joules += joules;
	node->known += s->khz != 0;
	node->khz += s->khz;
}

/*
 * @joules: of each sample; NULL not known. @by_energy: samples whose energy is not known are left
 * out. Returns NULL without memory for all samples, after reporting it.
 */
static struct flame_node *tree_build(const struct profile *p, const double *joules, bool by_energy)
{
	struct flame_node *root = calloc(1, sizeof(*root));
	bool whole = root;

	for (size_t i = 0; whole && i < p->samples; i++) {
		struct profile_frame frame[PROFILE_DEPTH];
		const double energy = joules ? joules[i] : NAN, weight = by_energy ? energy : 1;
		struct flame_node *node = root;
		bool phase = false;
		size_t nr;

		if (!isfinite(weight))
			continue;
		nr = profile_frames(p, &p->sample[i], frame);
		node_add_sample(root, &p->sample[i], weight, energy);
		for (size_t k = 0; k < nr && node; k++) {
			phase = phase || frame[k].kind == PROFILE_PHASE;
			node = flame_node_enter(node, frame[k].name);
			if (!node)
				break;
			node->layer = frame_layer(&frame[k], phase);
			node_add_sample(node, &p->sample[i], weight, energy);
		}
		whole = node;
	}
	if (!whole) {
		ctl_error("%s: no memory for its stacks", p->rec->path);
		flame_node_free(root);
		root = NULL;
	}
	return root;
}

/* In a folded stack ';' separates frames, and a newline ends the stack. */
static void folded_write_name(FILE *f, const char *name)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : *name == '\n' ? ' ' : *name, f);
}

/* Of energy the lines have whole microjoules, for other tools read no fractions. */
static void node_fold(const struct profile *p, const struct flame_node *node, double unit, FILE *f,
		      uint32_t *path, size_t depth)
{
	double inner = 0;

	for (const struct flame_node *c = node->child; c; c = c->next) {
		inner += c->weight;
		path[depth] = c->name;
		node_fold(p, c, unit, f, path, depth + 1);
	}
	if (!depth || round((node->weight - inner) * unit) < 1)
		return;
	for (size_t i = 0; i < depth; i++) {
		if (i)
			fputc(';', f);
		folded_write_name(f, profile_name(p, path[i]));
	}
	fprintf(f, " %.0f\n", (node->weight - inner) * unit);
}

int profile_folded(const struct profile *p, const struct profile_energy *e, FILE *f)
{
	struct flame_node *root = tree_build(p, e ? e->joules : NULL, e);
	uint32_t path[PROFILE_DEPTH];

	if (!root)
		return CTL_FAILED;
	node_fold(p, root, e ? 1e6 : 1, f, path, 0);
	flame_node_free(root);
	return CTL_OK;
}

static const char *name_of(const void *names, uint32_t name)
{
	return profile_name(names, name);
}

static void title_print(const struct profile *p, const struct profile_energy *e,
			const struct flame_node *root, char *title)
{
	int used;

	if (!e) {
		snprintf(title, TITLE, "%s: %zu samples by %s", p->rec->label, p->samples,
			 p->event);
		return;
	}
	used = snprintf(title, TITLE, "%s: %s J, %s %s %s", p->rec->label,
			amount_digits(root->weight, 4, AMOUNT_BUFFER), e->how,
			e->rail ? "on" : "by", e->what);
	if (root->n < p->samples && used < TITLE)
		snprintf(title + used, (size_t)(TITLE - used),
			 "; %zu of %zu samples left out, their energy is not known",
			 p->samples - root->n, p->samples);
}

int profile_flame(const struct profile *p, const struct profile_energy *e, bool by_energy,
		  bool alone, FILE *f)
{
	const bool known = e && e->how;
	struct flame_node *root = tree_build(p, known ? e->joules : NULL, by_energy);
	char title[TITLE];
	const struct flame_picture pic = {
		.title = title,
		.name = name_of,
		.names = p,
		.unit = by_energy ? FLAME_JOULES : FLAME_SAMPLES,
		.seconds = p->seconds,
		.watts = known,
		.alone = alone,
	};

	if (!root)
		return CTL_FAILED;
	title_print(p, by_energy ? e : NULL, root, title);
	flame_picture_write(&pic, root, f);
	flame_node_free(root);
	return CTL_OK;
}

/* Whether two frames of two profiles are the same: of phases the numbers, else the names. */
static bool name_is_same(const struct profile *a, uint32_t x, const struct profile *b, uint32_t y)
{
	return (x >= a->names) == (y >= b->names) &&
	       !strcmp(profile_name(a, x), profile_name(b, y));
}

/* Counts the samples of a profile in the frames of another one's tree, as far as it has them. */
static void tree_count_before(struct flame_node *root, const struct profile *p,
			      const struct profile *before)
{
	struct profile_frame frame[PROFILE_DEPTH];

	for (size_t i = 0; i < before->samples; i++) {
		const size_t nr = profile_frames(before, &before->sample[i], frame);
		struct flame_node *node = root;

		root->before++;
		for (size_t k = 0; k < nr && node; k++) {
			struct flame_node *c = node->child;

			while (c && !name_is_same(p, c->name, before, frame[k].name))
				c = c->next;
			if (c)
				c->before++;
			node = c;
		}
	}
}

int profile_flame_change(const struct profile *before, const struct profile *since, FILE *f)
{
	struct flame_node *root = tree_build(since, NULL, false);
	char title[TITLE];
	const struct flame_picture pic = {
		.title = title,
		.name = name_of,
		.names = since,
		.seconds = since->seconds,
		.before = before->seconds,
		.alone = true,
	};

	if (!root)
		return CTL_FAILED;
	tree_count_before(root, since, before);
	snprintf(title, sizeof(title), "%s: %.3f s of CPU time, against %.3f s of %s",
		 since->rec->label, (double)root->n * since->seconds,
		 (double)root->before * before->seconds, before->rec->label);
	flame_picture_write(&pic, root, f);
	flame_node_free(root);
	return CTL_OK;
}
