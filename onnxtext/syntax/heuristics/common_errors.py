# SPDX-License-Identifier: Apache-2.0
"""The error heuristics in the order in which they are tried: the first that applies wins."""

from __future__ import annotations

from onnxtext.syntax.heuristics.constructs.attribute_errors import (
    named_inputs,
    node_among_attributes,
    unclosed_attribute_list,
    unclosed_attributes,
    unfinished_graph,
    unopened_attributes,
)
from onnxtext.syntax.heuristics.constructs.attribute_value_errors import (
    blank_after_minus,
    missing_value,
    references,
    spaced_names,
    tensor_values,
    types_without_colon,
    types_without_equals,
)
from onnxtext.syntax.heuristics.constructs.colon_or_equals import colon_or_equals
from onnxtext.syntax.heuristics.constructs.data_errors import (
    blobs,
    booleans,
    doubled_closer,
    letters_in_numbers,
    quoted_elements,
    rows_in_brackets,
    words_as_elements,
)
from onnxtext.syntax.heuristics.constructs.decorator_errors import (
    decorated_output,
    equals_in_decorator,
    unquoted_doc,
    wrong_decorator,
)
from onnxtext.syntax.heuristics.constructs.graph_errors import (
    domain_of_function,
    empty_text,
    extra_brace,
    function_keyword,
    incomplete_graph_header,
    marks_in_name,
    missing_opener,
    spaced_arrow,
    values_without_brackets,
    wrong_bracket,
    wrong_brackets,
    wrong_opening_brace,
)
from onnxtext.syntax.heuristics.constructs.header_errors import (
    bare_header,
    entries,
    explicit_fields,
    headers,
    hyphenated_key,
    missing_header_comma,
    opset_items,
    point_for_comma,
    point_in_integer,
    trailing_header,
    unclosed_header,
    unclosed_list,
    unquoted_header_value,
)
from onnxtext.syntax.heuristics.constructs.label_errors import labels, unquoted_label
from onnxtext.syntax.heuristics.constructs.list_errors import list_separators, unclosed_row
from onnxtext.syntax.heuristics.constructs.metadata_errors import (
    bare_metadata_value,
    block_head,
    function_after_sections,
    section_colon,
    section_without_braces,
)
from onnxtext.syntax.heuristics.constructs.misplaced_constructs import (
    graph_among_nodes,
    graph_value_without_head,
    graph_without_head,
    label_without_brackets,
    misplaced_attributes,
    misplaced_types,
    prose,
    type_after_node,
    type_without_node,
)
from onnxtext.syntax.heuristics.constructs.misplaced_inputs import (
    misplaced_comma,
    node_in_brackets,
    subscript,
    trailing_decorator,
)
from onnxtext.syntax.heuristics.constructs.node_errors import (
    brackets_of_attributes,
    brackets_of_inputs,
    brackets_of_outputs,
    element_number,
    missing_operator,
    nested_expressions,
    no_outputs,
    number_as_name,
    parentheses,
    tensor_among_nodes,
    wrong_list_brackets,
)
from onnxtext.syntax.heuristics.constructs.operator_errors import (
    after_node,
    block_among_nodes,
    comma_after_node,
    function_among_nodes,
    made_by_helper,
    operator_separators,
)
from onnxtext.syntax.heuristics.constructs.section_errors import (
    construct_inside_graph,
    header_among_nodes,
    metadata_colon,
    missing_metadata_value,
    unclosed_before_section,
    unknown_section,
    unnamed_configuration,
)
from onnxtext.syntax.heuristics.constructs.string_errors import (
    bare_string,
    lone_string,
    string_tensor,
    string_without_quotes,
    unclosed_string,
)
from onnxtext.syntax.heuristics.constructs.token_errors import (
    conflict,
    misspelled,
    numbers,
    other_quotes,
    repeated_token,
    unknown_types,
)
from onnxtext.syntax.heuristics.constructs.type_errors import (
    brackets_of_types,
    dimensions,
    list_types,
)
from onnxtext.syntax.heuristics.constructs.unquoted_names import unquoted
from onnxtext.syntax.heuristics.constructs.value_errors import (
    bare_tensor_value,
    called_data,
    foreign_numbers,
    quoted_parameter,
    spaced_decorator,
    string_elements,
    type_variable,
    unfinished_values,
    untyped_initializer,
    untyped_sparse,
)
from onnxtext.syntax.heuristics.foreign_syntax.foreign_marks import foreign_marks
from onnxtext.syntax.heuristics.foreign_syntax.foreign_nodes import (
    foreign_attributes,
    foreign_nodes,
    incomplete_attribute,
    mlir_node,
    unnamed_graph,
)
from onnxtext.syntax.heuristics.foreign_syntax.look_alikes import letters, lookalikes
from onnxtext.syntax.heuristics.foreign_syntax.markdown_and_comments import (
    backticks,
    bullets,
    emphasis,
    trailing_comment,
)
from onnxtext.syntax.heuristics.foreign_syntax.other_languages import (
    control_flow,
    fences,
    foreign_words,
    imports,
    keyword_arguments,
    other_comments,
    other_format,
    python_head,
    python_words,
    semicolon,
    slashes,
    tensor_types,
)
from onnxtext.syntax.heuristics.foreign_syntax.python_expressions import (
    called_elements,
    called_values,
    conditional_expressions,
    expressions,
    python_types,
)
from onnxtext.syntax.heuristics.foreign_syntax.right_sides import (
    augmented_assignments,
    computed_values,
    right_sides,
    values_as_nodes,
)

COMMON_ERRORS = (
    lookalikes, letters,
    # Headers
    unclosed_list, unclosed_header, headers, missing_header_comma, hyphenated_key, point_for_comma,
    entries, bare_header, trailing_header,
    # Sections
    construct_inside_graph, header_among_nodes, unclosed_before_section, unknown_section,
    unnamed_configuration, section_colon, section_without_braces, block_head, metadata_colon,
    missing_metadata_value, bare_metadata_value, function_after_sections, unquoted_label,
    # Keys
    point_in_integer, unquoted_header_value, string_without_quotes, opset_items, explicit_fields,
    # Values
    types_without_colon, types_without_equals, missing_value, tensor_values, blank_after_minus,
    spaced_names, references, called_values, called_elements, blobs, doubled_closer, booleans,
    quoted_elements, letters_in_numbers, words_as_elements, rows_in_brackets, string_elements,
    untyped_initializer, called_data, untyped_sparse,
    bare_tensor_value, foreign_numbers, spaced_decorator, type_variable, quoted_parameter,
    # Decorators
    wrong_decorator, unquoted_doc, equals_in_decorator, decorated_output,
    # Whole texts
    empty_text, fences, imports, control_flow, conditional_expressions, emphasis, bullets,
    backticks, trailing_comment,
    # Nodes
    node_among_attributes, unfinished_graph, right_sides, augmented_assignments, computed_values,
    python_types, labels, foreign_nodes, foreign_attributes, incomplete_attribute, unnamed_graph,
    node_in_brackets, trailing_decorator, subscript, made_by_helper, operator_separators,
    expressions, after_node, comma_after_node, block_among_nodes, function_among_nodes,
    unopened_attributes, unclosed_attribute_list, unclosed_attributes, named_inputs, tensor_types,
    keyword_arguments, element_number, bare_string, no_outputs, brackets_of_outputs,
    misplaced_comma, brackets_of_inputs, brackets_of_attributes, missing_operator, parentheses,
    nested_expressions, number_as_name, wrong_list_brackets, tensor_among_nodes, type_without_node,
    values_as_nodes,
    # Brackets
    list_types, dimensions, brackets_of_types, string_tensor, wrong_brackets,
    # Graphs
    domain_of_function, spaced_arrow, values_without_brackets, incomplete_graph_header, python_head,
    function_keyword, missing_opener, extra_brace, wrong_opening_brace,
    # Constructs in the wrong place
    other_format, mlir_node, other_comments, lone_string, foreign_words, marks_in_name,
    misplaced_types, graph_without_head, graph_value_without_head, graph_among_nodes,
    type_after_node, label_without_brackets, prose,
    # Tokens
    conflict, slashes, list_separators, semicolon, other_quotes, numbers, python_words,
    foreign_marks, misspelled, unknown_types,
    # Strings and lists
    unclosed_row, unclosed_string, repeated_token, colon_or_equals, misplaced_attributes, unquoted,
    wrong_bracket,
)  # fmt: skip

INCOMPLETE_STATEMENTS = (
    conflict, node_among_attributes, right_sides, foreign_nodes, mlir_node, section_without_braces,
    block_head, python_types, unfinished_values, unknown_section, metadata_colon,
    bare_metadata_value, function_after_sections, wrong_decorator, blobs, header_among_nodes,
    comma_after_node, unopened_attributes, unclosed_attributes, conditional_expressions,
    type_without_node, semicolon, unclosed_row, unclosed_string, lone_string, unclosed_list,
    unclosed_header, headers, missing_header_comma, entries, bare_header, trailing_header,
    wrong_brackets, incomplete_graph_header, foreign_words, wrong_bracket, fences, imports,
    slashes, other_comments, prose, trailing_decorator, extra_brace, values_as_nodes,
)  # fmt: skip
"""The heuristics for statements that seem to be incomplete."""
