// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks, and the flame graph: one SVG file without scripts, fonts or other files. The
 * width of a frame is the number of its samples, or their energy; its colour is their mean
 * frequency, grey if that is not known.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/escape.h"
#include "../ctl.h"
#include "profile.h"
#include "sample-energy.h"

#define WIDTH  1200.0
#define HEIGHT 18
#define MARGIN 10
#define LEAST  0.3 /* narrower frames are left out, pixels */

struct node {
	struct node *child, *next;
	uint32_t name;
	size_t n, known; /* samples; those with a known frequency */
	double khz; /* sum over these */
	double weight; /* samples, or J */
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

static void node_add_sample(struct node *node, const struct profile_sample *s, double weight)
{
	node->n++;
	node->weight += weight;
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
 * @joules: of each sample, which are left out where it is not known; NULL counts samples. Returns
 * NULL without memory for all samples, after reporting it.
 */
static struct node *tree_build(const struct profile *p, const double *joules)
{
	struct node *root = calloc(1, sizeof(*root));
	bool whole = root;

	for (size_t i = 0; whole && i < p->samples; i++) {
		struct profile_frame frame[PROFILE_DEPTH];
		const double weight = joules ? joules[i] : 1;
		struct node *node = root;
		size_t nr;

		if (!isfinite(weight))
			continue;
		nr = profile_frames(p, &p->sample[i], frame);
		node_add_sample(root, &p->sample[i], weight);
		for (size_t k = 0; k < nr && node; k++) {
			node = node_enter(node, frame[k].name);
			if (node)
				node_add_sample(node, &p->sample[i], weight);
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
	struct node *root = tree_build(p, e ? e->joules : NULL);
	uint32_t path[PROFILE_DEPTH];

	if (!root)
		return CTL_FAILED;
	node_fold(p, root, e ? 1e6 : 1, f, path, 0);
	tree_free(root);
	return CTL_OK;
}

struct picture {
	const struct profile *p;
	const struct profile_energy *e; /* NULL: by samples */
	FILE *f;
	double scale; /* pixels per sample, or J */
	uint32_t low, high; /* kHz */
	double all; /* samples, or J */
	size_t deepest;
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
	const double width = node->weight * pic->scale;
	const double y = MARGIN + 2.0 * HEIGHT + (double)(pic->deepest - 1 - depth) * HEIGHT;
	const int room = (int)(width / 7);
	const char *name = depth ? profile_name(pic->p, node->name) : "all";
	double at = x;
	char cut[200];

	if (width < LEAST)
		return;
	fprintf(pic->f, "<g><title>");
	escape_html(pic->f, name);
	if (pic->e)
		fprintf(pic->f, ": %.4g J, %.2f %%, %zu samples", node->weight,
			100.0 * node->weight / pic->all, node->n);
	else
		fprintf(pic->f, ": %zu samples, %.2f %%", node->n, 100.0 * node->weight / pic->all);
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
		at += c->weight * pic->scale;
	}
}

static void picture_write_title(const struct picture *pic, const struct node *root)
{
	escape_html(pic->f, pic->p->rec->label);
	if (pic->e) {
		fprintf(pic->f, ": %.4g J, %s ", root->weight, pic->e->how);
		fputs(pic->e->rail ? "on " : "by ", pic->f);
		escape_html(pic->f, pic->e->what);
		if (root->n < pic->p->samples)
			fprintf(pic->f, "; %zu of %zu samples left out, their energy is not known",
				pic->p->samples - root->n, pic->p->samples);
	} else {
		fprintf(pic->f, ": %zu samples by ", pic->p->samples);
		escape_html(pic->f, pic->p->event);
	}
}

int profile_flame(const struct profile *p, const struct profile_energy *e, FILE *f)
{
	struct node *root = tree_build(p, e ? e->joules : NULL);
	struct picture pic = { .p = p, .e = e, .f = f };
	double height;

	if (!root)
		return CTL_FAILED;
	pic.all = root->weight > 0 ? root->weight : 1;
	picture_find_range(&pic);
	pic.scale = (WIDTH - 2 * MARGIN) / pic.all;
	pic.deepest = node_depth(root);
	height = 3.0 * MARGIN + (double)(pic.deepest + 3) * HEIGHT;
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
		"width=\"%.0f\" "
		"height=\"%.0f\" font-family=\"monospace\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
		"<text x=\"%d\" y=\"%d\" font-size=\"14\">",
		WIDTH, height, WIDTH, height, MARGIN, MARGIN + HEIGHT - 4);
	picture_write_title(&pic, root);
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
