// SPDX-License-Identifier: Apache-2.0
//
// Generate the TextMate grammar, syntaxes/onnxtxt.tmLanguage.json. Its word lists come from
// ../grammar/onnxtext.lark, which defines the syntax; the rules are here, since JavaScript allows
// names and comments for regular expressions.
//
//     node scripts/grammar.mjs           # write it
//     node scripts/grammar.mjs --check   # fail if it is out of date
//
// A TextMate grammar matches line by line, without types. So it distinguishes constructs by context:
// `{…}` after a graph's signature has nodes, `<…>` has attributes, header entries or typed values,
// `(…)` has values. The language server's semantic tokens add the rest.
import fs from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const lark = fs.readFileSync(path.join(root, '../grammar/onnxtext.lark'), 'utf8');
const output = path.join(root, 'syntaxes/onnxtxt.tmLanguage.json');

/** The alternatives of a terminal of special words, such as `PRIM.1: /float|uint8|…/`. */
function words(terminal) {
  const found = lark.match(new RegExp(`^${terminal}\\.1: /([a-z0-9_|]+)/$`, 'm'));
  if (!found) throw new Error(`onnxtext.lark has no special word ${terminal}`);
  return found[1];
}
const PRIM = `${words('PRIM')}|${words('UNDEFINED')}`;
const CONTAINER = words('CONTAINER');
const SECTION = lark.match(/^section_word: (.*) \| WHERE$/m)[1].split(' | ').map(words);

const WORD = '[A-Za-z_][A-Za-z0-9_]*';
const STRING = 'b?"(?!"")(?:[^"\\\\]|\\\\.)*"';
const NAME = `(?:${WORD}|${STRING})`;
const FIELD = '(?:(?:raw|float|double|int32|int64|uint64|string)_data|external(?=\\s*\\(\\s*b?"))';
const include = (...names) => names.map((name) => ({ include: `#${name}` }));
const captures = (...names) => Object.fromEntries(names.map((name, at) => [at + 1, { name: `${name}.onnxtxt` }]));
const capture = (name) => ({ 0: { name: `${name}.onnxtxt` } });
const between = (begin, end, name, patterns, more = {}) => ({
  begin, end, beginCaptures: capture(name), endCaptures: capture(name), patterns, ...more,
});

const DEFINED = 'variable.other.definition';
/** A name with or without quotes. */
const named = (scope) => [
  { match: `b?"(?!"")(?:[^"\\\\]|\\\\.)*"`, name: `${scope}.quoted.onnxtxt` },
  { match: WORD, name: `${scope}.onnxtxt` },
];

const repository = {
  comment: {
    patterns: [
      // Directives of the formatter and the checker.
      {
        match: '(#)\\s*(fmt:\\s*(?:off|on|skip)|onnxtext:\\s*ignore)\\b(.*)$',
        name: 'comment.line.number-sign.onnxtxt',
        captures: captures('punctuation.definition.comment', 'keyword.other.directive', 'comment.line.number-sign'),
      },
      { match: '(#).*$', name: 'comment.line.number-sign.onnxtxt', captures: captures('punctuation.definition.comment') },
    ],
  },

  string: {
    patterns: [
      {
        begin: '"""', end: '"""', name: 'string.quoted.triple.onnxtxt',
        beginCaptures: capture('punctuation.definition.string.begin'),
        endCaptures: capture('punctuation.definition.string.end'),
        patterns: include('escape'),
      },
      {
        match: '\\b(blob|file)("[^"\\n]*")',
        captures: captures('storage.type.string', 'string.quoted.double.reference'),
      },
      {
        begin: '\\b(b)(")', end: '"', name: 'string.quoted.double.bytes.onnxtxt',
        beginCaptures: captures('storage.type.string', 'punctuation.definition.string.begin'),
        endCaptures: capture('punctuation.definition.string.end'),
        patterns: [
          { match: '\\\\(?:x[0-9A-Fa-f]{2}|u\\{[0-9A-Fa-f]+\\}|["\'\\\\abfnrtv0\\n])', name: 'constant.character.escape.onnxtxt' },
          { match: '\\\\.', name: 'invalid.illegal.escape.onnxtxt' },
        ],
      },
      {
        begin: '"', end: '"', name: 'string.quoted.double.onnxtxt',
        beginCaptures: capture('punctuation.definition.string.begin'),
        endCaptures: capture('punctuation.definition.string.end'),
        patterns: include('escape'),
      },
    ],
  },
  escape: { match: '\\\\.', name: 'constant.character.escape.onnxtxt' },

  number: {
    patterns: [
      { match: `-?\\b0x[0-9A-Fa-f.]*[pP][-+]?[0-9]+`, name: 'constant.numeric.hex.float.onnxtxt' },
      ...include('nan', 'complex'),
      { match: '-?\\b0?x[0-9A-Fa-f]+\\b', name: 'constant.numeric.hex.onnxtxt' },
      { match: '\\b[0-9]+i(?:32|64)\\b', name: 'constant.numeric.integer.onnxtxt' },
      { match: '(?<![A-Za-z0-9_])-?[0-9]+(?:\\.[0-9]*(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)j?', name: 'constant.numeric.float.onnxtxt' },
      { match: '(?<![A-Za-z0-9_])-?[0-9]+j?', name: 'constant.numeric.integer.onnxtxt' },
      { match: '-?\\b(?i:infinity|inf|nan)\\b(?!\\s*[=(])', name: 'constant.numeric.special.onnxtxt' },
      { match: '\\.\\.\\.', name: 'keyword.operator.splat.onnxtxt' },
    ],
  },

  nan: { match: '-?\\bnan\\(0x[0-9A-Fa-f]+\\)', name: 'constant.numeric.nan.onnxtxt' },
  complex: {
    match: '(?<![A-Za-z0-9_])-?(?:[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?|inf|nan)[-+](?:[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?|inf|nan)j',
    name: 'constant.numeric.complex.onnxtxt',
  },

  decorator: {
    patterns: [
      // @value_info(nodes, "x", without: ["w"])
      {
        begin: '(@)(value_info|initializers)(\\()', end: '\\)',
        beginCaptures: captures('punctuation.definition.decorator', 'entity.name.function.decorator', 'punctuation.section.parens.begin'),
        endCaptures: capture('punctuation.section.parens.end'),
        patterns: [
          ...include('comment', 'key'),
          { match: '\\b(?:initializers|inputs|outputs|values|nodes)\\b', name: 'constant.language.onnxtxt' },
          ...include('string', 'list', 'word', 'punctuation'),
        ],
      },
      {
        begin: `(@)(${WORD}(?:\\.${WORD})*)(\\()`, end: '\\)',
        beginCaptures: captures('punctuation.definition.decorator', 'entity.name.function.decorator', 'punctuation.section.parens.begin'),
        endCaptures: capture('punctuation.section.parens.end'),
        patterns: include('comment', 'key', 'string', 'number', 'boolean', 'record', 'list', 'word', 'punctuation'),
      },
      // A reference to an attribute parameter of the function.
      { match: `(@)(${NAME})`, captures: captures('keyword.operator.reference', 'variable.parameter.attribute') },
    ],
  },

  type: {
    patterns: [
      {
        begin: `\\b(${PRIM})\\s*(\\[)`, end: '\\]',
        beginCaptures: captures('storage.type.tensor', 'punctuation.section.brackets.begin'),
        endCaptures: capture('punctuation.section.brackets.end'),
        patterns: [
          ...include('comment', 'decorator'),
          { match: '\\?', name: 'constant.language.unknown.onnxtxt' },
          { match: '-?[0-9]+', name: 'constant.numeric.integer.onnxtxt' },
          ...named('variable.parameter.dimension'),
          ...include('punctuation'),
        ],
      },
      {
        begin: `\\b(${CONTAINER})\\s*(\\()`, end: '\\)',
        beginCaptures: captures('storage.type.container', 'punctuation.section.parens.begin'),
        endCaptures: capture('punctuation.section.parens.end'),
        patterns: [
          ...include('comment', 'decorator'),
          { match: `\\b(?:${PRIM})\\b(?!\\s*(?:\\[|\\.))`, name: 'storage.type.tensor.onnxtxt' },
          ...include('type', 'string', 'word', 'punctuation'),
        ],
      },
      // Not a type before an equals sign, a dot or a colon, or as an input: only a name is valid there.
      { match: `\\b(${PRIM})\\b(?!\\s*(?:=(?!>)|\\.(?!\\.)|:|,|\\)\\s*[^\\s{]))`, name: 'storage.type.tensor.onnxtxt' },
    ],
  },

  boolean: { match: '\\b(?:true|false)\\b', name: 'constant.language.boolean.onnxtxt' },
  arrow: { match: '=>', name: 'keyword.operator.arrow.onnxtxt' },
  punctuation: {
    patterns: [
      { match: ',', name: 'punctuation.separator.comma.onnxtxt' },
      { match: ':', name: 'punctuation.separator.colon.onnxtxt' },
      { match: '=', name: 'keyword.operator.assignment.onnxtxt' },
      { match: '\\.', name: 'punctuation.accessor.onnxtxt' },
      { match: '\\?', name: 'constant.language.unknown.onnxtxt' },
    ],
  },
  // Keys of a header, section or record: `ir_version:`, `"ai.onnx.ml":`, `999:`.
  key: {
    patterns: [
      { match: `\\b(${WORD})\\s*(:)`, captures: captures('support.type.property-name', 'punctuation.separator.colon') },
      { match: `(${STRING})\\s*(:)`, captures: captures('support.type.property-name.quoted', 'punctuation.separator.colon') },
    ],
  },

  list: between('\\[', '\\]', 'punctuation.section.brackets', include(
    'comment', 'decorator', 'key', 'nan', 'graph', 'string', 'number', 'boolean', 'type', 'record', 'list', 'word', 'punctuation',
  )),
  // A record of the generic form, or a tensor's elements.
  record: between('\\{', '\\}', 'punctuation.section.braces', include(
    'comment', 'decorator', 'key', 'string', 'number', 'boolean', 'record', 'list', 'word', 'punctuation',
  )),
  word: { match: `\\b${WORD}\\b`, name: 'variable.other.word.onnxtxt' },

  // external("w.bin", 0, 16), raw_data(b"…") float_data{1}
  field: { match: `\\b${FIELD}(?=\\s*[({])`, name: 'support.function.field.onnxtxt' },

  // Values, types, attributes and header entries: everything in `<…>`.
  angle: between('<', '>', 'punctuation.section.angle', include(
    'comment', 'attribute-type', 'key', 'decorator', 'field', 'nan', 'graph', 'arrow', 'type', 'attribute', 'string', 'number', 'boolean',
    'list', 'record', 'arguments', 'plain-value', 'punctuation',
  )),
  // `scale: float = @scale`: unlike a key, it is followed by a type and an equals sign or the end.
  // `ints: ints[64] = [0, ...]` has a length, too.
  'attribute-type': {
    match: `(${NAME})\\s*(:)\\s*(${WORD})(?:(\\[)([0-9]+)(\\]))?\\s*(?=[=,>])(?!=>)`,
    captures: captures(
      'entity.other.attribute-name', 'punctuation.separator.colon', 'storage.type.attribute', 'punctuation.section.brackets.begin',
      'constant.numeric.integer', 'punctuation.section.brackets.end',
    ),
  },
  attribute: {
    patterns: [
      // A name after a type is a tensor's; alone before `=` it is an attribute's.
      { match: `(?<=[\\]A-Za-z0-9_)]\\s)(${NAME})\\s*(=)(?!>)`, captures: captures('variable.other.constant', 'keyword.operator.assignment') },
      { match: `(${NAME})\\s*(=)(?!>)`, captures: captures('entity.other.attribute-name', 'keyword.operator.assignment') },
    ],
  },
  'plain-value': { match: `\\b${WORD}\\b`, name: 'variable.other.onnxtxt' },

  // A graph as an attribute's value, or of a training section: it ends where its body does.
  graph: {
    begin: `\\b(?!(?:${PRIM}|${CONTAINER}|${FIELD})\\b)(${NAME})\\s*(?=\\(|=>)`, end: '(?<=\\})',
    beginCaptures: captures('entity.name.type.graph'),
    patterns: include('comment', 'signature', 'arrow', 'angle', 'body'),
  },

  // (inputs) or (outputs), of graphs, functions and nodes.
  signature: between('\\(', '\\)', 'punctuation.section.parens', include(
    'comment', 'decorator', 'type', 'assigned', 'names', 'string', 'field', 'number', 'boolean', 'list', 'record', 'punctuation',
  )),
  assigned: { match: `(${NAME})\\s*(=)`, captures: captures('variable.other.constant', 'keyword.operator.assignment') },
  names: {
    patterns: [
      { match: '""(?!")', name: 'string.quoted.double.empty.onnxtxt' },
      ...named('variable.other.value'),
    ],
  },
  arguments: between('\\(', '\\)', 'punctuation.section.parens', include(
    'comment', 'decorator', 'string', 'number', 'boolean', 'type', 'list', 'record', 'punctuation',
  )),

  body: between('\\{', '\\}', 'punctuation.section.block', include('statement'), { name: 'meta.body.onnxtxt' }),

  // The nodes of a body.
  statement: { patterns: include('comment', 'decorator', 'operator', 'label', 'type', 'output', 'angle', 'signature', 'arrow', 'punctuation') },
  label: {
    begin: '\\[', end: '\\]',
    beginCaptures: capture('punctuation.section.brackets.begin'),
    endCaptures: capture('punctuation.section.brackets.end'),
    patterns: [...include('comment'), ...named('entity.name.label')],
  },
  operator: {
    patterns: [
      // After the equals sign: `ai.onnx.ml.Scaler`, `.Add`, `Add:""`.
      {
        match: `(=)\\s*((?:${NAME}\\s*\\.\\s*)+|\\.)?\\s*(${NAME})(?:\\s*(:)\\s*(${NAME}))?(?=\\s*(?:[<(]|$|#))`,
        captures: captures('keyword.operator.assignment', 'entity.name.namespace.domain', 'support.function.operator', 'punctuation.separator.colon', 'entity.name.tag.overload'),
      },
      // On a line of its own.
      {
        match: `((?:${NAME}\\s*\\.\\s*)+|\\.)?(?!(?:${CONTAINER})\\s*\\()(${NAME})(?:\\s*(:)\\s*(${NAME}))?(?=\\s*[<(])`,
        captures: captures('entity.name.namespace.domain', 'support.function.operator', 'punctuation.separator.colon', 'entity.name.tag.overload'),
      },
    ],
  },
  output: { patterns: [{ match: '""(?!")', name: 'string.quoted.double.empty.onnxtxt' }, ...named(DEFINED)] },

  // The sections: metadata {…}, resources none, configuration "name" {…}.
  section: {
    patterns: [
      {
        begin: `^\\s*(${SECTION.join('|')})\\b(?=\\s*\\{|\\s+${NAME}\\s*\\{|\\s+${WORD}\\s*(?:#|$))`, end: '(?<=\\})|(?=^\\S)|(?<=\\w)\\s*$',
        beginCaptures: captures('keyword.control.section'),
        patterns: [
          ...include('comment', 'section-body'),
          { match: WORD, name: 'constant.language.onnxtxt' },
          ...include('string'),
        ],
      },
    ],
  },
  'section-body': between('\\{', '\\}', 'punctuation.section.block', [
    ...include('comment', 'decorator'),
    // `node q {`, `value x {`: the owner of the entries.
    {
      match: `\\b(${WORD})((?:\\s+|\\s*\\.\\s*)[^:{}()]*?)?(?:(:)(${NAME}))?\\s*(?=\\{)`,
      captures: captures('storage.type.subject', 'variable.other.value', 'punctuation.separator.colon', 'entity.name.tag.overload'),
    },
    // `key: above`: the value of the block above.
    { match: '(?<=: )above\\b(?!\\s*:)', name: 'constant.language.onnxtxt' },
    // The graphs of a training section.
    {
      match: `\\b(${WORD})\\s*(:)\\s*(?=(?:${NAME})\\s*(?:\\(|=>))`,
      captures: captures('support.type.property-name', 'punctuation.separator.colon'),
    },
    // `"24ae…": base64 """…"""`
    {
      match: `(${STRING})\\s*(:)\\s*(${WORD})`,
      captures: captures('support.type.property-name.quoted', 'punctuation.separator.colon', 'storage.type.encoding'),
    },
    ...include('key', 'string', 'number', 'boolean', 'graph', 'section-body', 'list', 'word', 'punctuation'),
  ]),

  // A name before its signature.
  definition: {
    match: `(?<![=.:]\\s)(?<![=.:])(?:\\b|(?="))(?!(?:${PRIM}|${CONTAINER})\\b)(${NAME})(?=\\s*(?:[(<]|=>))`,
    captures: captures('entity.name.type.graph'),
  },
};

const grammar = {
  $schema: 'https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json',
  information_for_contributors: ['Generated by scripts/grammar.mjs from ../grammar/onnxtext.lark: edit those.'],
  name: 'onnxtxt',
  scopeName: 'source.onnxtxt',
  fileTypes: ['onnxtxt', 'onnxtext'],
  // Fragments (README, documentation) may begin with nodes, so statements are known here too.
  patterns: include(
    'comment', 'section', 'decorator', 'operator-after-equals', 'definition', 'label', 'type', 'arrow', 'angle', 'signature', 'body',
    'output', 'punctuation',
  ),
  repository: { ...repository, 'operator-after-equals': repository.operator.patterns[0] },
};

const text = `${JSON.stringify(grammar, null, 2)}\n`;
if (process.argv.includes('--check')) {
  if (!fs.existsSync(output) || fs.readFileSync(output, 'utf8') !== text) {
    console.error('syntaxes/onnxtxt.tmLanguage.json is out of date: run `node scripts/grammar.mjs`');
    process.exit(1);
  }
} else {
  fs.mkdirSync(path.dirname(output), { recursive: true });
  fs.writeFileSync(output, text);
}
