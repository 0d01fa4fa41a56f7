// SPDX-License-Identifier: GPL-2.0-or-later
#include "flame-picture.h"

#include <math.h>
#include <stdlib.h>

#include "../../common/amount.h"
#include "../../common/escape.h"

#define WIDTH	      1200.0
#define HEIGHT	      18
#define MARGIN	      10
#define LEAST	      0.3 /* narrower frames are left out, pixels */
#define LEAST_IN_PAGE 1.0 /* of a page, which has other pictures too */

/* The script, included by the assembler; the report's page has it once. */
__asm__(".section .rodata\n"
	".global flame_picture_script\n"
	"flame_picture_script:\n"
	".incbin \"gchintctl/profile/flame.js\"\n"
	".byte 0\n"
	".previous\n");

static const struct {
	const char *name, *colour;
} layers[FLAME_LAYERS] = {
	[FLAME_PROGRAM] = { "program", "#d4d8dc" }, [FLAME_COLLECTOR] = { "collector", "#f2a65e" },
	[FLAME_RUNTIME] = { "runtime", "#a9c8e8" }, [FLAME_METHOD] = { "method", "#a5d6a0" },
	[FLAME_KERNEL] = { "kernel", "#c9b3e6" },
};

struct canvas {
	const struct flame_picture *pic;
	FILE *f;
	double all; /* weight */
	double scale; /* pixels per weight */
	double change; /* the largest one, s of CPU time */
	size_t deepest;
};

struct flame_node *flame_node_enter(struct flame_node *node, uint32_t name)
{
	struct flame_node **at = &node->child;

	while (*at && (*at)->name != name)
		at = &(*at)->next;
	if (!*at) {
		*at = calloc(1, sizeof(**at));
		if (*at)
			(*at)->name = name;
	}
	return *at;
}

void flame_node_free(struct flame_node *root)
{
	struct flame_node *next;

	for (; root; root = next) {
		next = root->next;
		flame_node_free(root->child);
		free(root);
	}
}

static size_t node_depth(const struct flame_node *node)
{
	size_t deepest = 0;

	for (const struct flame_node *c = node->child; c; c = c->next) {
		size_t d = node_depth(c);

		deepest = d > deepest ? d : deepest;
	}
	return deepest + 1;
}

/* s of CPU time; 0 where it is within two standard deviations of chance. */
static double node_change(const struct flame_picture *pic, const struct flame_node *node)
{
	const double now = pic->seconds, was = pic->before;
	const double change = (double)node->n * now - (double)node->before * was;
	const double noise =
		2 * sqrt((double)node->n * now * now + (double)node->before * was * was);

	return fabs(change) > noise ? change : 0;
}

static void canvas_find_change(struct canvas *canvas, const struct flame_node *node)
{
	canvas->change = fmax(canvas->change, fabs(node_change(canvas->pic, node)));
	for (const struct flame_node *c = node->child; c; c = c->next)
		canvas_find_change(canvas, c);
}

static void node_write_colour(const struct canvas *canvas, const struct flame_node *node)
{
	double change;

	if (canvas->pic->before <= 0) {
		fputs(layers[node->layer].colour, canvas->f);
		return;
	}
	change = node_change(canvas->pic, node);
	/* Red for more, blue for less; the darker the more. */
	if (change != 0)
		fprintf(canvas->f, "hsl(%d,75%%,%.0f%%)", change > 0 ? 10 : 215,
			90 - 30 * fabs(change) / canvas->change);
	else
		fputs("#dcdfe2", canvas->f);
}

static void node_write_title(const struct canvas *canvas, const struct flame_node *node,
			     const char *name)
{
	const struct flame_picture *pic = canvas->pic;
	const double share = 100 * node->weight / canvas->all;
	char bytes[AMOUNT_TEXT];
	FILE *f = canvas->f;

	fputs("<title>", f);
	escape_html(f, name);
	if (pic->unit == FLAME_JOULES)
		fprintf(f, ": %s J, %.2f %%, %zu samples",
			amount_digits(node->weight, 4, AMOUNT_BUFFER), share, node->n);
	else if (pic->unit == FLAME_BYTES)
		fprintf(f, ": %s, %.2f %%, %zu samples", amount_bytes(node->weight, bytes), share,
			node->n);
	else
		fprintf(f, ": %zu samples, %.2f %%", node->n, share);
	if (node->known)
		fprintf(f, ", %.0f MHz", node->khz / (double)node->known / 1000);
	if (pic->before > 0)
		fprintf(f, ", %.3f s of CPU time, before %.3f s", (double)node->n * pic->seconds,
			(double)node->before * pic->before);
	fputs("</title>", f);
}

static void node_draw(const struct canvas *canvas, const struct flame_node *node, double x,
		      size_t depth)
{
	const struct flame_picture *pic = canvas->pic;
	const double width = node->weight * canvas->scale;
	const double y = MARGIN + 2.0 * HEIGHT + (double)(canvas->deepest - 1 - depth) * HEIGHT;
	const int room = (int)(width / 7);
	const char *name = depth ? pic->name(pic->names, node->name) : "all";
	FILE *f = canvas->f;
	double at = x;
	char cut[200];

	if (width < (pic->alone ? LEAST : LEAST_IN_PAGE))
		return;
	fputs("<g class=\"frame\"", f);
	if (node->known)
		fprintf(f, " data-mhz=\"%.0f\"", node->khz / (double)node->known / 1000);
	if (pic->watts && isfinite(node->joules))
		fprintf(f, " data-watts=\"%s\"",
			amount_digits(node->joules / ((double)node->n * pic->seconds), 3,
				      AMOUNT_BUFFER));
	fputc('>', f);
	node_write_title(canvas, node, name);
	fprintf(f, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"", x, y, width,
		HEIGHT - 1);
	node_write_colour(canvas, node);
	fputs("\"/>", f);
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
		fprintf(f, "<text x=\"%.2f\" y=\"%.0f\">", x + 3, y + HEIGHT - 5);
		escape_html(f, cut);
		fputs("</text>", f);
	}
	fputs("</g>\n", f);
	for (const struct flame_node *c = node->child; c; c = c->next) {
		node_draw(canvas, c, at, depth + 1);
		at += c->weight * canvas->scale;
	}
}

static void canvas_write_key(const struct canvas *canvas, double y)
{
	double x = MARGIN;

	if (canvas->pic->before > 0) {
		fprintf(canvas->f,
			"<text x=\"%d\" y=\"%.0f\">red: more CPU time than before; blue: less; "
			"grey: no more than chance may do</text>\n",
			MARGIN, y);
		return;
	}
	/* Of bytes all frames are methods. */
	if (canvas->pic->unit == FLAME_BYTES)
		return;
	fputs("<g class=\"layers\">", canvas->f);
	for (int i = 0; i < FLAME_LAYERS; i++) {
		fprintf(canvas->f,
			"<rect x=\"%.0f\" y=\"%.0f\" width=\"11\" height=\"11\" fill=\"%s\"/>"
			"<text x=\"%.0f\" y=\"%.0f\">%s</text>",
			x, y - 10, layers[i].colour, x + 15, y, layers[i].name);
		x += 100;
	}
	fprintf(canvas->f, "</g><text class=\"scale\" x=\"%d\" y=\"%.0f\"></text>\n", MARGIN, y);
}

void flame_picture_write(const struct flame_picture *pic, const struct flame_node *root, FILE *f)
{
	struct canvas canvas = { .pic = pic, .f = f };
	double height;

	canvas.all = root->weight > 0 ? root->weight : 1;
	canvas.scale = (WIDTH - 2 * MARGIN) / canvas.all;
	canvas.deepest = node_depth(root);
	height = 3.0 * MARGIN + (double)(canvas.deepest + 3) * HEIGHT;
	if (pic->before > 0)
		canvas_find_change(&canvas, root);
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flamegraph\"%s viewBox=\"0 0 "
		"%.0f %.0f\" width=\"%.0f\" "
		"height=\"%.0f\" font-family=\"monospace\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
		"<text x=\"%d\" y=\"%d\" font-size=\"14\">",
		pic->before > 0 ? " data-change=\"1\"" : "", WIDTH, height, WIDTH, height, MARGIN,
		MARGIN + HEIGHT - 4);
	escape_html(f, pic->title);
	fputs("</text>\n", f);
	node_draw(&canvas, root, MARGIN, 0);
	canvas_write_key(&canvas, height - MARGIN);
	if (pic->alone)
		fprintf(f, "<script><![CDATA[\n%s]]></script>\n", flame_picture_script);
	fputs("</svg>\n", f);
}
