// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are lines for a shell
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { analyseArgv, analyseShell } from '../../src/shell/analyse.ts'
import { Budget, MAX_COMMANDS, MAX_TEXT_CHARS, MAX_WORK } from '../../src/shell/budget.ts'

const FRAGMENTS = [
  'git push',
  'echo ',
  '$(',
  '`',
  ')',
  '(',
  '((',
  '))',
  '{ ',
  '; }',
  '${x:-',
  '}',
  '[[ ',
  ' ]]',
  '"',
  "'",
  "$'",
  '\\',
  '\n',
  ';',
  '|',
  '&',
  '<<EOF\n',
  '\nEOF\n',
  '<(',
  '>',
  'if ',
  '; then ',
  '; fi',
  'for x in a; do ',
  '; done',
  'case x in x) ',
  ';; esac',
  'f() ',
  'sh -c ',
  'env ',
  'xargs ',
  'find . -exec ',
  ' \\;',
  'A=1 ',
  '{a,',
  '*',
  '$x',
  '#',
  ' ',
  '\t',
  '\0',
  '\u00a0',
  'ü',
] as const

const line = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 40 }).map((parts) => parts.join('')),
)

test('no text makes the analysis throw', () => {
  fc.assert(
    fc.property(line, fc.constantFrom('bash', 'sh', 'dash', 'zsh', ''), (text, shell) => {
      const analysis = analyseShell(text, shell)
      expect(['commands', 'opaque']).toContain(analysis.type)
    }),
    { numRuns: 1_000 },
  )
})

test('no arguments make the analysis throw', () => {
  const argument = fc.oneof(
    line,
    fc.constantFrom('env', 'sh', '-c', 'xargs', '-I', 'find', '-exec', ';', '--', '-S', 'npm', 'git'),
  )
  fc.assert(
    fc.property(fc.array(argument, { maxLength: 12 }), (argv) => {
      expect(['commands', 'opaque']).toContain(analyseArgv(argv).type)
    }),
    { numRuns: 1_000 },
  )
})

test('a line behind any other text is found or the whole is opaque', () => {
  const isSeen = (text: string) => {
    const { type, commands } = analyseShell(text, 'bash')
    return type === 'opaque' || commands.some(({ program, args }) => program === 'git' && args[0] === 'push')
  }
  fc.assert(
    // A backslash, a comment or an unfinished word before the newline would make it part of another word.
    fc.property(
      line.map((text) => text.replaceAll(/[\\#]/g, '')),
      (text) => isSeen(`${text}\n;git push`) || isSeen(`${text}\ngit push`),
    ),
    { numRuns: 1_000 },
  )
})

const repeated = (text: string, length = MAX_TEXT_CHARS) => text.repeat(Math.floor(length / text.length))

test.each([
  ['open substitutions', repeated('$(')],
  ['closed substitutions', `${repeated('$(', MAX_TEXT_CHARS / 2)}x${')'.repeat(MAX_TEXT_CHARS / 4)}`],
  ['quoted substitutions', repeated('"$(')],
  ['open default values', repeated('${x:-')],
  ['open arithmetic', repeated('$((')],
  ['open process substitutions', repeated('<(')],
  ['mixed openers', repeated('$(`"${x:-<(')],
  ['backticks', repeated('`')],
  ['escaped backticks', repeated('`\\`')],
  ['parentheses', repeated('(')],
  ['braces', repeated('{ ')],
  ['lists in braces', repeated('{a,')],
  ['here-documents', repeated('<<A ')],
  ['functions', repeated('f()')],
  ['coproc', repeated('coproc ')],
  ['tests', repeated('[[ ! ')],
  ['if', repeated('if ')],
  ['wrappers', repeated('env ')],
  ['options of a wrapper', `env ${repeated('-i ', MAX_TEXT_CHARS - 10)}ls`],
  ['variables of a wrapper', `env ${repeated('A=1 ', MAX_TEXT_CHARS - 10)}ls`],
  ['executed commands', `find ${repeated('-exec a ; ', MAX_TEXT_CHARS - 10)}`],
  ['a long word', repeated('a')],
  ['a long script of sed', `sed '${repeated(' ', MAX_TEXT_CHARS - 10)}'`],
  ['a long slice', `echo \${x:${repeated(' ', MAX_TEXT_CHARS - 20)}y}`],
  ['many commands', repeated('a;')],
  ['many variables', Array.from({ length: 20_000 }, (_, i) => `a${i}=1`).join('\n')],
  [
    'many variables of a shell',
    `${Array.from({ length: 20_000 }, (_, i) => `a${i}=1`).join(' ')} sh -c '${'a;'.repeat(900)}'`,
  ],
])('the work on %s is bounded', (_, text) => {
  const budget = new Budget()
  analyseShell(text, 'bash', budget)
  // One node may be read beyond the limit, and then its words once more.
  expect(budget.work).toBeLessThanOrEqual(MAX_WORK + 3 * MAX_TEXT_CHARS)
})

test('a line that is too long, has too many commands or is too deeply nested is opaque', () => {
  const reasonOf = (text: string) => {
    const analysis = analyseShell(text, 'bash')
    return analysis.type === 'opaque' ? analysis.reason : null
  }
  expect(reasonOf(`echo ${'a'.repeat(MAX_TEXT_CHARS - 'echo '.length)}`)).toBeNull()
  expect(reasonOf(`echo ${'a'.repeat(MAX_TEXT_CHARS)}`)).toBe('it has more than 262144 characters')
  expect(reasonOf(repeated('{a,'))).toBe('it has too many braces')
  expect(reasonOf(repeated('<<A '))).toBe('it has too many here-documents')
  expect(reasonOf(repeated('$('))).toBe('it is no valid script: unterminated command substitution')
  expect(reasonOf('a;'.repeat(MAX_COMMANDS))).toBeNull()
  expect(reasonOf('a;'.repeat(MAX_COMMANDS + 1))).toBe('it has more than 1000 commands')
  expect(reasonOf(Array.from({ length: 1001 }, (_, i) => `a${i}=1`).join('\n'))).toBe(
    'it sets more than 1000 variables',
  )
  expect(reasonOf(`echo \${!${'x'.repeat(1000)}}`)).toHaveLength(200)
  expect(reasonOf(`${'nice '.repeat(32)}ls`)).toBeNull()
  expect(reasonOf(`${'nice '.repeat(33)}ls`)).toBe('it is too deeply nested')
  expect(reasonOf(`${'$('.repeat(20)}ls${')'.repeat(20)}`)).toBe('the name of a program is not literal')
})
