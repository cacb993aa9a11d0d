# SPDX-License-Identifier: Apache-2.0
"""Error heuristics in the order in which they are tried: the first whose edits parse decides."""

from __future__ import annotations

from onnxtext.syntax.heuristics.constructs import (
    attribute_list_errors,
    attribute_value_errors,
    data_errors,
    decorator_errors,
    graph_errors,
    header_errors,
    header_value_errors,
    label_errors,
    list_errors,
    metadata_errors,
    misplaced_constructs,
    misplaced_lines,
    misplaced_node_parts,
    node_errors,
    operator_errors,
    section_errors,
    string_errors,
    token_errors,
    type_errors,
    unquoted_names,
    value_errors,
    wrong_marks,
)
from onnxtext.syntax.heuristics.foreign_syntax import (
    foreign_nodes,
    look_alikes,
    markdown_and_comments,
    other_languages,
    python_syntax,
    right_sides,
)

COMMON_ERRORS = (
    misplaced_constructs.file_name,
    markdown_and_comments.carriage_return, markdown_and_comments.emphasis,
    markdown_and_comments.slashes, markdown_and_comments.code_as_comment,
    look_alikes.lookalikes, look_alikes.letters, misplaced_lines.repeated_line,
    misplaced_lines.line_moved_down,
    list_errors.empty_pair, unquoted_names.split_word,
    # Headers
    header_errors.unclosed_list, header_errors.unclosed_header, header_errors.headers,
    header_errors.missing_header_comma, header_errors.odd_key, wrong_marks.point_for_comma,
    header_errors.entries, header_errors.bare_header, header_errors.trailing_list,
    # Sections
    attribute_list_errors.unfinished_head,
    section_errors.construct_inside_graph, section_errors.header_among_nodes,
    section_errors.unclosed_before_section, section_errors.unknown_section,
    section_errors.unnamed_configuration, metadata_errors.section_colon,
    metadata_errors.section_brace,
    metadata_errors.block_head,
    section_errors.metadata_colon, section_errors.missing_metadata_value,
    metadata_errors.bare_metadata_value, metadata_errors.function_after_sections,
    label_errors.unquoted_label,
    value_errors.called_data, misplaced_constructs.graph_value_without_head,
    misplaced_lines.misplaced_line,
    # Keys
    header_value_errors.point_in_integer, header_value_errors.unquoted_header_value,
    string_errors.string_without_quotes, string_errors.doubled_quotes,
    header_value_errors.opset_items, header_value_errors.explicit_fields,
    # Values
    attribute_value_errors.types_without_colon, attribute_value_errors.types_without_equals,
    attribute_value_errors.missing_value, attribute_value_errors.tensor_values,
    attribute_value_errors.blank_after_minus, attribute_value_errors.spaced_names,
    attribute_value_errors.references, list_errors.thousands_separators,
    python_syntax.called_values, python_syntax.called_elements,
    data_errors.blobs, data_errors.doubled_closer, data_errors.booleans,
    data_errors.quoted_elements, data_errors.odd_characters_in_numbers,
    data_errors.words_as_elements, data_errors.rows_in_brackets, value_errors.string_elements,
    value_errors.nodes_in_angle_brackets, value_errors.untyped_initializer,
    value_errors.bare_tensor_value, value_errors.foreign_numbers, value_errors.type_variable,
    value_errors.parameter_with_at_sign,
    # Decorators
    decorator_errors.wrong_decorator, decorator_errors.unquoted_doc,
    # Whole texts
    graph_errors.empty_text, other_languages.other_format, markdown_and_comments.fences,
    other_languages.control_flow, python_syntax.conditional_expressions,
    markdown_and_comments.backticks, markdown_and_comments.trailing_comment,
    # Nodes
    attribute_list_errors.node_among_attributes,
    right_sides.right_sides, right_sides.augmented_assignments, right_sides.computed_values,
    python_syntax.python_types, label_errors.labels, foreign_nodes.foreign_nodes,
    foreign_nodes.foreign_attributes, foreign_nodes.unnamed_graph,
    misplaced_node_parts.line_in_brackets,
    misplaced_node_parts.trailing_decorator, misplaced_node_parts.subscript,
    operator_errors.made_by_helper, operator_errors.operator_separators,
    python_syntax.expressions, attribute_list_errors.unopened_attributes,
    attribute_list_errors.unopened_inputs,
    operator_errors.missing_inputs, operator_errors.after_node,
    operator_errors.comma_after_node, operator_errors.block_among_nodes,
    attribute_list_errors.unclosed_attribute_list, attribute_list_errors.unclosed_attributes,
    attribute_list_errors.named_inputs, other_languages.tensor_types,
    other_languages.keyword_arguments,
    node_errors.element_type_name, string_errors.bare_string, node_errors.no_outputs,
    operator_errors.operator_before_equals, node_errors.brackets_of_outputs,
    node_errors.brackets_of_inputs,
    node_errors.brackets_of_attributes, node_errors.parentheses, node_errors.nested_expressions,
    value_errors.unnamed_value, node_errors.number_as_name, node_errors.wrong_list_brackets,
    right_sides.values_as_nodes,
    # Brackets
    type_errors.list_types, type_errors.dimensions, type_errors.brackets_of_types,
    string_errors.string_tensor, graph_errors.unclosed_outputs, graph_errors.wrong_brackets,
    # Graphs
    graph_errors.misplaced_block, graph_errors.domain_of_function, wrong_marks.spaced_arrow,
    graph_errors.values_without_brackets, section_errors.missing_first_line,
    graph_errors.incomplete_graph_header,
    other_languages.python_head, graph_errors.function_keyword, header_errors.text_before_header,
    graph_errors.missing_opener,
    graph_errors.extra_brace,
    # Constructs in the wrong place
    foreign_nodes.mlir_node, markdown_and_comments.other_comments,
    string_errors.lone_string, other_languages.foreign_words, graph_errors.marks_in_name,
    misplaced_constructs.misplaced_types, misplaced_constructs.graph_without_head,
    misplaced_constructs.graph_among_nodes, misplaced_constructs.type_after_node,
    misplaced_constructs.label_without_brackets, misplaced_constructs.prose,
    # Tokens
    token_errors.conflict, attribute_list_errors.empty_attributes, list_errors.list_separators,
    other_languages.semicolon, token_errors.other_quotes, token_errors.numbers,
    python_syntax.python_constants, wrong_marks.foreign_marks, token_errors.misspelled,
    value_errors.named_data,
    token_errors.unknown_types,
    # Strings and lists
    list_errors.unclosed_row, list_errors.early_end, string_errors.unclosed_string,
    token_errors.repeated_token,
    wrong_marks.colon_or_equals, misplaced_constructs.misplaced_attributes,
    unquoted_names.unquoted, graph_errors.wrong_bracket, value_errors.unfinished_values,
)  # fmt: skip

_ONLY_COMPLETE = frozenset((
    attribute_value_errors.missing_value, data_errors.doubled_closer, label_errors.labels,
    misplaced_constructs.misplaced_attributes, node_errors.brackets_of_inputs,
    operator_errors.after_node, token_errors.repeated_token,
    unquoted_names.unquoted,
))  # fmt: skip
"""Heuristics that would read the statement after an incomplete one as its missing end."""

INCOMPLETE_STATEMENTS = tuple([error for error in COMMON_ERRORS if error not in _ONLY_COMPLETE])
"""The heuristics for statements that seem to be incomplete."""
