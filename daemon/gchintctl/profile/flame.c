// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks, and the flame graph: one SVG file without scripts, fonts or other files. The
 * colour of a frame is the mean frequency of its samples; grey if that is not known.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/escape.h"
#include "../ctl.h"
#include "profile.h"

#define WIDTH  1200.0
#define HEIGHT 18
#define MARGIN 10
#define LEAST  0.3 /* narrower frames are left out, pixels */

struct node {
	struct node *child, *next;
	uint32_t name;
	size_t n, known; /* samples; those with a known frequency */
	double khz; /* sum over these */
};

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

static void node_add_sample(struct node *node, const struct profile_sample *s)
{
	node->n++;
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

/* Returns NULL without memory for all samples, after reporting it. */
static struct node *tree_build(const struct profile *p)
{
	struct node *root = calloc(1, sizeof(*root));
	bool whole = root;

	for (size_t i = 0; whole && i < p->samples; i++) {
		struct profile_frame frame[PROFILE_DEPTH];
		size_t nr = profile_frames(p, &p->sample[i], frame);
		struct node *node = root;

		node_add_sample(root, &p->sample[i]);
		for (size_t k = 0; k < nr && node; k++) {
			node = node_enter(node, frame[k].name);
			if (node)
				node_add_sample(node, &p->sample[i]);
		}
		whole = node;
	}
	if (!whole) {
		ctl_error("%s: no memory for its stacks", p->run->path);
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

static void node_fold(const struct profile *p, const struct node *node, FILE *f, uint32_t *path,
		      size_t depth)
{
	size_t inner = 0;

	for (const struct node *c = node->child; c; c = c->next) {
		inner += c->n;
		path[depth] = c->name;
		node_fold(p, c, f, path, depth + 1);
	}
	if (!depth || node->n == inner)
		return;
	for (size_t i = 0; i < depth; i++) {
		if (i)
			fputc(';', f);
		folded_write_name(f, profile_name(p, path[i]));
	}
	fprintf(f, " %zu\n", node->n - inner);
}

int profile_folded(const struct profile *p, FILE *f)
{
	struct node *root = tree_build(p);
	uint32_t path[PROFILE_DEPTH];

	if (!root)
		return CTL_FAILED;
	node_fold(p, root, f, path, 0);
	tree_free(root);
	return CTL_OK;
}

struct picture {
	const struct profile *p;
	FILE *f;
	double scale; /* pixels per sample */
	uint32_t low, high; /* kHz */
	size_t all, deepest;
};

static void picture_find_range(struct picture *pic)
{
	for (size_t i = 0; i < pic->p->samples; i++) {
		uint32_t khz = pic->p->sample[i].khz;

		if (khz && (!pic->low || khz < pic->low))
			pic->low = khz;
		if (khz > pic->high)
			pic->high = khz;
	}
}

static size_t node_depth(const struct node *node)
{
	size_t deepest = 0;

	for (const struct node *c = node->child; c; c = c->next) {
		size_t d = node_depth(c);

		deepest = d > deepest ? d : deepest;
	}
	return deepest + 1;
}

static void picture_write_colour(const struct picture *pic, const struct node *node)
{
	double part;

	if (!node->known) {
		fputs("#c8c8c8", pic->f);
		return;
	}
	part = pic->high > pic->low ? (node->khz / (double)node->known - pic->low) /
					      (double)(pic->high - pic->low) :
				      1;
	/* From blue for the lowest to red for the highest. */
	fprintf(pic->f, "hsl(%.0f,70%%,70%%)", 220 * (1 - part));
}

static void node_draw(const struct picture *pic, const struct node *node, double x, size_t depth)
{
	const double width = (double)node->n * pic->scale;
	const double y = MARGIN + 2.0 * HEIGHT + (double)(pic->deepest - 1 - depth) * HEIGHT;
	const int room = (int)(width / 7);
	const char *name = depth ? profile_name(pic->p, node->name) : "all";
	double at = x;
	char cut[200];

	if (width < LEAST)
		return;
	fprintf(pic->f, "<g><title>");
	escape_html(pic->f, name);
	fprintf(pic->f, ": %zu samples, %.2f %%", node->n,
		100.0 * (double)node->n / (double)pic->all);
	if (node->known)
		fprintf(pic->f, ", %.0f MHz", node->khz / (double)node->known / 1000);
	else
		fprintf(pic->f, ", frequency not known");
	fprintf(pic->f, "</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"",
		x, y, width, HEIGHT - 1);
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
		at += (double)c->n * pic->scale;
	}
}

int profile_flame(const struct profile *p, FILE *f)
{
	struct picture pic = { .p = p, .f = f, .all = p->samples };
	struct node *root = tree_build(p);
	double height;

	if (!root)
		return CTL_FAILED;
	picture_find_range(&pic);
	pic.scale = (WIDTH - 2 * MARGIN) / (double)p->samples;
	pic.deepest = node_depth(root);
	height = 3.0 * MARGIN + (double)(pic.deepest + 3) * HEIGHT;
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
		"width=\"%.0f\" "
		"height=\"%.0f\" font-family=\"monospace\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
		"<text x=\"%d\" y=\"%d\" font-size=\"14\">",
		WIDTH, height, WIDTH, height, MARGIN, MARGIN + HEIGHT - 4);
	escape_html(f, p->run->label);
	fprintf(f, ": %zu samples by ", p->samples);
	escape_html(f, p->event);
	fputs("</text>\n", f);
	node_draw(&pic, root, MARGIN, 0);
	fprintf(f, "<text x=\"%d\" y=\"%.0f\">", MARGIN, height - MARGIN);
	if (pic.high)
		fprintf(f, "colour: mean frequency, blue %u MHz to red %u MHz; grey: not known",
			pic.low / 1000, pic.high / 1000);
	else
		fputs("grey: no frequency is known here", f);
	fputs("</text>\n</svg>\n", f);
	tree_free(root);
	return CTL_OK;
}
