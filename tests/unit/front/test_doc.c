/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of a document: positions, limits, copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "front/exp/doc.h"

static struct doc *parse(const char *text, struct weft_err *err)
{
	struct doc *d = doc_new();

	if (!doc_parse(d, "f", text, strlen(text), err))
		return d;
	doc_free(d);
	return NULL;
}

static void refuses(const char *text, const char *msg)
{
	struct weft_err err = { 0 };

	assert_null(parse(text, &err));
	assert_string_equal(err.msg, msg);
}

static void nodes_know_their_line_and_column(void **state)
{
	struct weft_err err = { 0 };
	struct doc *d = parse("a: 1\nb:\n  - x\n  - {c: 'y z'}\n", &err);
	const struct doc_node *b = doc_get(d->root, "b");
	const struct doc_node *c = doc_get(b->items[1].val, "c");

	assert_int_equal(d->root->kind, DOC_MAP);
	assert_int_equal(doc_get(d->root, "a")->at.line, 1);
	assert_int_equal(doc_get(d->root, "a")->at.col, 4);
	assert_int_equal(b->kind, DOC_SEQ);
	assert_int_equal(b->n, 2);
	assert_int_equal(b->items[0].val->at.line, 3);
	assert_string_equal(c->text, "y z");
	assert_true(c->quoted);
	assert_int_equal(c->at.line, 4);
	assert_int_equal(c->at.col, 9);
	assert_null(doc_get(d->root, "c"));
	assert_null(doc_get(b, "a"));
	doc_free(d);
}

static void text_of_comments_has_no_root(void **state)
{
	struct weft_err err = { 0 };
	struct doc *d = parse("# nothing\n", &err);

	assert_null(d->root);
	doc_free(d);
}

static void alias_is_a_copy(void **state)
{
	struct weft_err err = { 0 };
	struct doc *d = parse("a: &x {p: 1}\nb: *x\n", &err);
	struct doc_node *a = doc_get(d->root, "a"), *b = doc_get(d->root, "b");

	assert_ptr_not_equal(a, b);
	assert_string_equal(doc_get(b, "p")->text, "1");
	doc_get(b, "p")->text = "2";
	assert_string_equal(doc_get(a, "p")->text, "1");
	doc_free(d);
}

static void unusable_yaml_is_refused_with_its_line(void **state)
{
	refuses("a: 1\nb: 2\nb: 3", "f:3: 'b' was given before, in line 2");
	refuses("a: &x [*x]", "f:1: alias '*x' contains itself");
	refuses("*x",
		"f:1: no anchor '&x' before this alias: a text that "
		"begins with * stands in quotes");
	refuses("a: \"\\0\"", "f:1: a zero byte inside a value");
	refuses("{a: 1}: 2", "f:1: a key must be a word, not a mapping");
	refuses("a: 1\n...\n---\nb: 1",
		"f:3: a second document: one experiment per file");
	refuses("!x {}", "f:1: tag '!x': tags are not used here");
}

static void document_nests_at_most_64_levels(void **state)
{
	char text[2 * DOC_MAX_DEPTH + 3] = { 0 };
	struct weft_err err = { 0 };
	struct doc *d;

	memset(text, '[', DOC_MAX_DEPTH);
	memset(text + DOC_MAX_DEPTH, ']', DOC_MAX_DEPTH);
	d = parse(text, &err);
	assert_non_null(d);
	doc_free(d);
	memset(text, '[', DOC_MAX_DEPTH + 1);
	refuses(text, "f:1: nested deeper than 64 levels");
}

static void document_above_16_mib_is_refused(void **state)
{
	size_t n = DOC_MAX_BYTES + 1;
	char *text = malloc(n);
	struct weft_err err = { 0 };
	struct doc *d = doc_new();

	memset(text, ' ', n);
	assert_int_not_equal(doc_parse(d, "f", text, n, &err), 0);
	assert_string_equal(err.msg,
			    "f: larger than 16 MiB: that is no experiment");
	doc_free(d);
	free(text);
}

static void clone_has_all_values_of_its_original(void **state)
{
	struct weft_err err = { 0 };
	struct doc *d = parse("a: [1, {b: 2}]\n", &err), *c = doc_clone(d);

	assert_true(c->n_nodes <= d->n_nodes);
	assert_string_equal(
		doc_get(doc_get(c->root, "a")->items[1].val, "b")->text, "2");
	doc_free(c);
	doc_free(d);
}

/* A document of megabytes with thousands of aliases must not become gigabytes,
 * therefore all aliases share one text. */
static void a_text_is_there_once_however_many_aliases_it_has(void **state)
{
	struct weft_err err = { 0 };
	struct doc *d = parse("a: &x long\nb: *x\nc: [*x, *x]\n", &err), *c;
	const char *text = doc_get(d->root, "a")->text;

	assert_ptr_equal(doc_get(d->root, "b")->text, text);
	assert_ptr_equal(doc_get(d->root, "c")->items[1].val->text, text);
	c = doc_clone(d);
	assert_ptr_equal(doc_get(c->root, "b")->text, text);
	doc_free(c);
	doc_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_know_their_line_and_column),
		cmocka_unit_test(text_of_comments_has_no_root),
		cmocka_unit_test(alias_is_a_copy),
		cmocka_unit_test(unusable_yaml_is_refused_with_its_line),
		cmocka_unit_test(document_nests_at_most_64_levels),
		cmocka_unit_test(document_above_16_mib_is_refused),
		cmocka_unit_test(clone_has_all_values_of_its_original),
		cmocka_unit_test(
			a_text_is_there_once_however_many_aliases_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
