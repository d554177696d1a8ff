import { expect, test } from 'vitest'
import { didYouMean } from '../../src/base/nearest-name.ts'
import { durationOf } from '../../src/cli/duration.ts'
import { keyBytes } from '../../src/cli/keys.ts'
import { LineSplitter } from '../../src/cli/line-splitter.ts'
import { parseArguments } from '../../src/cli/parse.ts'
import { tableLines } from '../../src/cli/print/table.ts'
import { byteCount, shortTime } from '../../src/cli/print/times.ts'

const SPECS = {
  follow: { type: 'flag', short: 'f', about: '' },
  tail: { type: 'number', short: 'n', about: '' },
  env: { type: 'texts', short: 'e', about: '' },
  role: { type: 'text', choices: ['read', 'admin'], about: '' },
  timeout: { type: 'duration', about: '' },
} as const

const parse = (given: readonly string[], stopEarly = false) =>
  parseArguments(given, SPECS, { stopEarly, help: 'Look.' })

test('options may be long or short, bundled, repeated, and stand anywhere', () => {
  expect(parse(['web', '-fn', '20', '--env', 'A=1', '-eB=2', '--timeout=1m30s'])).toEqual({
    texts: new Map([
      ['tail', ['20']],
      ['env', ['A=1', 'B=2']],
      ['timeout', ['1m30s']],
    ]),
    options: { follow: true, tail: 20, env: ['A=1', 'B=2'], role: undefined, timeout: 90_000 },
    args: ['web'],
  })
  expect(parse(['-n20', '--', '-f']).args).toEqual(['-f'])
  expect(parse(['-']).args).toEqual(['-'])
  expect(parse(['-n=20', 'web', '-e', '-x', '--env', '--', '--', '--env']).options).toMatchObject({
    tail: 20,
    env: ['-x', '--'],
  })
})

test('arguments after a command belong to the command', () => {
  expect(parse(['-f', 'ls', '-n', '--role'], true)).toMatchObject({
    options: { follow: true, tail: undefined },
    args: ['ls', '-n', '--role'],
  })
  expect(parse(['-f', '--', 'ls', '--', '-n'], true).args).toEqual(['ls', '--', '-n'])
})

test.each([
  [['--folow'], 'There is no option --folow. Did you mean --follow?'],
  [['-x'], 'There is no option -x.'],
  [['-fx'], 'There is no option -x.'],
  [['-xf'], 'There is no option -x.'],
  [['-n'], '--tail needs a value.'],
  [['--__proto__'], 'There is no option --__proto__.'],
  [['--tail', 'many'], '--tail was given many, and takes a number.'],
  [['--tail'], '--tail needs a value.'],
  [['--follow=yes'], '--follow takes no value.'],
  [['--role', 'root'], '--role was given root.'],
  [['--timeout', '5 minutes'], '--timeout was given 5 minutes, and takes a time.'],
])('%j is refused: %s', (given, message) => {
  expect(() => parse(given)).toThrow(message)
})

test('times are read as people write them', () => {
  const read = ['2', '0.5', '500ms', '30s', '1m30s', '2h', '1d'].map((text) => durationOf(text, '--timeout'))
  expect(read).toEqual([2_000, 500, 500, 30_000, 90_000, 7_200_000, 86_400_000])
})

test('times and sizes are shown as people read them', () => {
  expect([0, 999, 59_999, 61_000, 3_600_000, 5_000_000, 90_000_000].map(shortTime)).toEqual([
    '0ms',
    '999ms',
    '59s',
    '1m1s',
    '1h',
    '1h23m',
    '1d1h',
  ])
  expect([0, 1_023, 1_536, 5_000_000, 3_000_000_000].map(byteCount)).toEqual([
    '0 B',
    '1023 B',
    '1.5 KiB',
    '4.8 MiB',
    '2.8 GiB',
  ])
})

test('a typing mistake is recognised, and another name is not', () => {
  const known = ['ps', 'logs', 'restart', 'kill']
  expect(
    ['pss', 'lgos', 'restrat', 'rstrt', 'kil', 'deploy'].map((given) => didYouMean(given, known)),
  ).toEqual([
    ' Did you mean ps?',
    ' Did you mean logs?',
    ' Did you mean restart?',
    ' Did you mean restart?',
    ' Did you mean kill?',
    '',
  ])
})

test('a guess that changes half of a name, or three letters of a long one, is not made', () => {
  const guess = (given: string, known: string) => didYouMean(given, [known])
  expect([guess('to', 'as'), guess('pa', 'ps'), guess('kail', 'kiln'), guess('rsatr', 'restart')]).toEqual(
    Array(4).fill(''),
  )
  expect(() => parse(['--rule', 'read'])).toThrow('There is no option --rule. Did you mean --role?')
  expect(() => parse(['--rows'])).toThrow(/^There is no option --rows\.$/)
})

test('a table is as wide as the terminal at most, and control characters do not get out of their cell', () => {
  const columns = [
    { title: 'PID' },
    { title: 'N', align: 'right' },
    { title: 'COMMAND', flexible: true },
  ] as const
  const rows = [
    [{ text: 'p_1' }, { text: '7' }, { text: 'sh -c "echo\nhello\u001b[2J there"' }],
    [{ text: 'p_22' }, { text: '12' }, { text: 'ls' }],
  ]
  const plain = (text: string) => text
  expect(tableLines(columns, rows, { width: 24, paintTitle: plain })).toEqual([
    'PID    N  COMMAND',
    'p_1    7  sh -c "echo h…',
    'p_22  12  ls',
  ])
  expect(tableLines(columns, rows, { width: undefined, paintTitle: plain })[1]).toBe(
    'p_1    7  sh -c "echo hello [2J there"',
  )
})

test('keys have names', () => {
  expect(['enter', 'ctrl-c', 'C-z', 'ctrl-]', 'up', 'x'].map(keyBytes)).toEqual([
    '\r',
    '\u0003',
    '\u001a',
    '\u001d',
    '\u001b[A',
    'x',
  ])
  expect(() => keyBytes('meta-x')).toThrow('There is no key meta-x.')
})

test('lines keep their offsets, and characters that two pieces share', () => {
  const [first, second] = [Buffer.from('one\ntwö').subarray(0, 7), Buffer.from('one\ntwö').subarray(7)]
  const lines = new LineSplitter()
  expect(lines.take(10, first)).toEqual([{ offset: 10, text: 'one' }])
  expect(lines.take(17, Buffer.concat([second, Buffer.from('\r\n')]))).toEqual([{ offset: 14, text: 'twö' }])
  expect(lines.take(20, Buffer.from('rest'))).toEqual([])
  expect(lines.rest()).toEqual([{ offset: 20, text: 'rest' }])
})
