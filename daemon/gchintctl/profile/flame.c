// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks, and the flame graph: one SVG file that loads nothing, with a script that zooms,
 * searches and changes colours. The width of a frame is the number of its samples, or their energy;
 * its colour is the layer that it belongs to, or of two profiles the change from one to the other.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/escape.h"
#include "../ctl.h"
#include "profile.h"
#include "sample-energy.h"

#define WIDTH	      1200.0
#define HEIGHT	      18
#define MARGIN	      10
#define LEAST	      0.3 /* narrower frames are left out, pixels */
#define LEAST_IN_PAGE 1.0 /* of a page, which has other pictures too */

/* The script, included by the assembler; the report's page has it once. */
__asm__(".section .rodata\n"
	".global profile_flame_script\n"
	"profile_flame_script:\n"
	".incbin \"gchintctl/profile/flame.js\"\n"
	".byte 0\n"
	".previous\n");

enum layer {
	LAYER_PROGRAM,
	LAYER_COLLECTOR,
	LAYER_RUNTIME,
	LAYER_METHOD,
	LAYER_KERNEL,
	LAYERS
};

static const struct {
	const char *name, *colour;
} layers[LAYERS] = {
	[LAYER_PROGRAM] = { "program", "#d4d8dc" }, [LAYER_COLLECTOR] = { "collector", "#f2a65e" },
	[LAYER_RUNTIME] = { "runtime", "#a9c8e8" }, [LAYER_METHOD] = { "method", "#a5d6a0" },
	[LAYER_KERNEL] = { "kernel", "#c9b3e6" },
};

struct node {
	struct node *child, *next;
	uint32_t name;
	enum layer layer;
	size_t n, known; /* samples; those with a known frequency */
	size_t before; /* samples of the profile that it is compared with */
	double khz; /* sum over these */
	double weight; /* samples, or J */
	double joules; /* NAN not known */
};

/* Code of the runtime that runs in a phase is the collector's. */
static enum layer frame_layer(const struct profile_frame *f, bool phase)
{
	switch (f->kind) {
	case PROFILE_PROGRAM:
		return LAYER_PROGRAM;
	case PROFILE_PHASE:
		return LAYER_COLLECTOR;
	case PROFILE_METHOD:
		return LAYER_METHOD;
	case PROFILE_KERNEL:
		return LAYER_KERNEL;
	default:
		return phase ? LAYER_COLLECTOR : LAYER_RUNTIME;
	}
}

static struct node *node_enter(struct node *node, uint32_t name)
{
	struct node **at = &node->child;

	while (*at && (*at)->name != name)
		at = &(*at)->next;
	if (!*at) {
		*at = calloc(1, sizeof(**at));
		if (*at)
			(*at)->name = name;
	}
	return *at;
}

static void node_add_sample(struct node *node, const struct profile_sample *s, double weight,
			    double joules)
{
	node->n++;
	node->weight += weight;
	node->joules += joules;
	node->known += s->khz != 0;
	node->khz += s->khz;
}

static void tree_free(struct node *node)
{
	struct node *next;

	for (; node; node = next) {
		next = node->next;
		tree_free(node->child);
		free(node);
	}
}

/*
 * @joules: of each sample; NULL not known. @by_energy: samples whose energy is not known are left
 * out. Returns NULL without memory for all samples, after reporting it.
 */
static struct node *tree_build(const struct profile *p, const double *joules, bool by_energy)
{
	struct node *root = calloc(1, sizeof(*root));
	bool whole = root;

	for (size_t i = 0; whole && i < p->samples; i++) {
		struct profile_frame frame[PROFILE_DEPTH];
		const double energy = joules ? joules[i] : NAN, weight = by_energy ? energy : 1;
		struct node *node = root;
		bool phase = false;
		size_t nr;

		if (!isfinite(weight))
			continue;
		nr = profile_frames(p, &p->sample[i], frame);
		node_add_sample(root, &p->sample[i], weight, energy);
		for (size_t k = 0; k < nr && node; k++) {
			phase = phase || frame[k].kind == PROFILE_PHASE;
			node = node_enter(node, frame[k].name);
			if (!node)
				break;
			node->layer = frame_layer(&frame[k], phase);
			node_add_sample(node, &p->sample[i], weight, energy);
		}
		whole = node;
	}
	if (!whole) {
		ctl_error("%s: no memory for its stacks", p->rec->path);
		tree_free(root);
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
static void node_fold(const struct profile *p, const struct node *node, double unit, FILE *f,
		      uint32_t *path, size_t depth)
{
	double inner = 0;

	for (const struct node *c = node->child; c; c = c->next) {
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
	struct node *root = tree_build(p, e ? e->joules : NULL, e);
	uint32_t path[PROFILE_DEPTH];

	if (!root)
		return CTL_FAILED;
	node_fold(p, root, e ? 1e6 : 1, f, path, 0);
	tree_free(root);
	return CTL_OK;
}

struct picture {
	const struct profile *p, *before; /* @before: NULL without comparison */
	const struct profile_energy *e; /* of the samples; NULL not known */
	bool by_energy, alone; /* @alone: a file of its own, with the script */
	FILE *f;
	double scale; /* pixels per sample, or J */
	double all; /* samples, or J */
	double change; /* the largest one, s of CPU time */
	size_t deepest;
};

static size_t node_depth(const struct node *node)
{
	size_t deepest = 0;

	for (const struct node *c = node->child; c; c = c->next) {
		size_t d = node_depth(c);

		deepest = d > deepest ? d : deepest;
	}
	return deepest + 1;
}

/* s of CPU time; 0 where it is within two standard deviations of chance. */
static double node_change(const struct picture *pic, const struct node *node)
{
	const double now = pic->p->seconds, was = pic->before->seconds;
	const double change = (double)node->n * now - (double)node->before * was;
	const double noise =
		2 * sqrt((double)node->n * now * now + (double)node->before * was * was);

	return fabs(change) > noise ? change : 0;
}

static void picture_find_change(struct picture *pic, const struct node *node)
{
	pic->change = fmax(pic->change, fabs(node_change(pic, node)));
	for (const struct node *c = node->child; c; c = c->next)
		picture_find_change(pic, c);
}

static void picture_write_colour(const struct picture *pic, const struct node *node)
{
	double change;

	if (!pic->before) {
		fputs(layers[node->layer].colour, pic->f);
		return;
	}
	change = node_change(pic, node);
	/* Red for more, blue for less; the darker the more. */
	if (change != 0)
		fprintf(pic->f, "hsl(%d,75%%,%.0f%%)", change > 0 ? 10 : 215,
			90 - 30 * fabs(change) / pic->change);
	else
		fputs("#dcdfe2", pic->f);
}

static void node_write_title(const struct picture *pic, const struct node *node, const char *name)
{
	fputs("<title>", pic->f);
	escape_html(pic->f, name);
	if (pic->by_energy)
		fprintf(pic->f, ": %.4g J, %.2f %%, %zu samples", node->weight,
			100.0 * node->weight / pic->all, node->n);
	else
		fprintf(pic->f, ": %zu samples, %.2f %%", node->n, 100.0 * node->weight / pic->all);
	if (node->known)
		fprintf(pic->f, ", %.0f MHz", node->khz / (double)node->known / 1000);
	if (pic->before)
		fprintf(pic->f, ", %.3f s of CPU time, before %.3f s",
			(double)node->n * pic->p->seconds,
			(double)node->before * pic->before->seconds);
	fputs("</title>", pic->f);
}

static void node_draw(const struct picture *pic, const struct node *node, double x, size_t depth)
{
	const double width = node->weight * pic->scale;
	const double y = MARGIN + 2.0 * HEIGHT + (double)(pic->deepest - 1 - depth) * HEIGHT;
	const int room = (int)(width / 7);
	const char *name = depth ? profile_name(pic->p, node->name) : "all";
	double at = x;
	char cut[200];

	if (width < (pic->alone ? LEAST : LEAST_IN_PAGE))
		return;
	fputs("<g class=\"frame\"", pic->f);
	if (node->known)
		fprintf(pic->f, " data-mhz=\"%.0f\"", node->khz / (double)node->known / 1000);
	if (isfinite(node->joules) && pic->e)
		fprintf(pic->f, " data-watts=\"%.3g\"",
			node->joules / ((double)node->n * pic->p->seconds));
	fputc('>', pic->f);
	node_write_title(pic, node, name);
	fprintf(pic->f, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"", x, y,
		width, HEIGHT - 1);
	picture_write_colour(pic, node);
	fputs("\"/>", pic->f);
	if (room >= 3) {
		size_t bytes = 0;
		int letters = 0;

		/* Cut between characters, not within one. */
		while (name[bytes] && letters < room && bytes < sizeof(cut) - 5) {
			int step = escape_utf8((const unsigned char *)name + bytes);

			bytes += step > 0 ? (size_t)step : 1;
			letters++;
		}
		snprintf(cut, sizeof(cut), "%.*s", (int)bytes, name);
		fprintf(pic->f, "<text x=\"%.2f\" y=\"%.0f\">", x + 3, y + HEIGHT - 5);
		escape_html(pic->f, cut);
		fputs("</text>", pic->f);
	}
	fputs("</g>\n", pic->f);
	for (const struct node *c = node->child; c; c = c->next) {
		node_draw(pic, c, at, depth + 1);
		at += c->weight * pic->scale;
	}
}

static void picture_write_title(const struct picture *pic, const struct node *root)
{
	escape_html(pic->f, pic->p->rec->label);
	if (pic->by_energy) {
		fprintf(pic->f, ": %.4g J, %s ", root->weight, pic->e->how);
		fputs(pic->e->rail ? "on " : "by ", pic->f);
		escape_html(pic->f, pic->e->what);
		if (root->n < pic->p->samples)
			fprintf(pic->f, "; %zu of %zu samples left out, their energy is not known",
				pic->p->samples - root->n, pic->p->samples);
	} else if (pic->before) {
		fprintf(pic->f, ": %.3f s of CPU time, against %.3f s of ",
			(double)root->n * pic->p->seconds,
			(double)root->before * pic->before->seconds);
		escape_html(pic->f, pic->before->rec->label);
	} else {
		fprintf(pic->f, ": %zu samples by ", pic->p->samples);
		escape_html(pic->f, pic->p->event);
	}
}

static void picture_write_key(const struct picture *pic, double y)
{
	double x = MARGIN;

	if (pic->before) {
		fprintf(pic->f,
			"<text x=\"%d\" y=\"%.0f\">red: more CPU time than before; blue: less; "
			"grey: no more than chance may do</text>\n",
			MARGIN, y);
		return;
	}
	fputs("<g class=\"layers\">", pic->f);
	for (int i = 0; i < LAYERS; i++) {
		fprintf(pic->f,
			"<rect x=\"%.0f\" y=\"%.0f\" width=\"11\" height=\"11\" fill=\"%s\"/>"
			"<text x=\"%.0f\" y=\"%.0f\">%s</text>",
			x, y - 10, layers[i].colour, x + 15, y, layers[i].name);
		x += 100;
	}
	fprintf(pic->f, "</g><text class=\"scale\" x=\"%d\" y=\"%.0f\"></text>\n", MARGIN, y);
}

static void picture_write(struct picture *pic, const struct node *root)
{
	double height;

	pic->all = root->weight > 0 ? root->weight : 1;
	pic->scale = (WIDTH - 2 * MARGIN) / pic->all;
	pic->deepest = node_depth(root);
	height = 3.0 * MARGIN + (double)(pic->deepest + 3) * HEIGHT;
	if (pic->before)
		picture_find_change(pic, root);
	fprintf(pic->f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flamegraph\"%s viewBox=\"0 0 "
		"%.0f %.0f\" width=\"%.0f\" "
		"height=\"%.0f\" font-family=\"monospace\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
		"<text x=\"%d\" y=\"%d\" font-size=\"14\">",
		pic->before ? " data-change=\"1\"" : "", WIDTH, height, WIDTH, height, MARGIN,
		MARGIN + HEIGHT - 4);
	picture_write_title(pic, root);
	fputs("</text>\n", pic->f);
	node_draw(pic, root, MARGIN, 0);
	picture_write_key(pic, height - MARGIN);
	if (pic->alone)
		fprintf(pic->f, "<script><![CDATA[\n%s]]></script>\n", profile_flame_script);
	fputs("</svg>\n", pic->f);
}

int profile_flame(const struct profile *p, const struct profile_energy *e, bool by_energy,
		  bool alone, FILE *f)
{
	const bool known = e && e->how;
	struct node *root = tree_build(p, known ? e->joules : NULL, by_energy);
	struct picture pic = {
		.p = p, .e = known ? e : NULL, .by_energy = by_energy, .alone = alone, .f = f
	};

	if (!root)
		return CTL_FAILED;
	picture_write(&pic, root);
	tree_free(root);
	return CTL_OK;
}

/* Whether two frames of two profiles are the same: of phases the numbers, else the names. */
static bool name_is_same(const struct profile *a, uint32_t x, const struct profile *b, uint32_t y)
{
	return (x >= a->names) == (y >= b->names) &&
	       !strcmp(profile_name(a, x), profile_name(b, y));
}

/* Counts the samples of a profile in the frames of another one's tree, as far as it has them. */
static void tree_count_before(struct node *root, const struct profile *p,
			      const struct profile *before)
{
	struct profile_frame frame[PROFILE_DEPTH];

	for (size_t i = 0; i < before->samples; i++) {
		const size_t nr = profile_frames(before, &before->sample[i], frame);
		struct node *node = root;

		root->before++;
		for (size_t k = 0; k < nr && node; k++) {
			struct node *c = node->child;

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
	struct node *root = tree_build(since, NULL, false);
	struct picture pic = { .p = since, .before = before, .alone = true, .f = f };

	if (!root)
		return CTL_FAILED;
	tree_count_before(root, since, before);
	picture_write(&pic, root);
	tree_free(root);
	return CTL_OK;
}
