import { WriteStream } from 'node:tty'
import { expect, test } from 'vitest'
import { coloursFor } from '../../../src/cli/print/colour.ts'

/** The rules of Node for terminals, without a terminal. */
const TERMINAL = { isTTY: true, getColorDepth: WriteStream.prototype.getColorDepth }
const PIPE = {}
const XTERM = { TERM: 'xterm-256color' }

test.each([
  ['a terminal', TERMINAL, XTERM, undefined, true],
  ['a pipe', PIPE, XTERM, undefined, false],
  ['a terminal that has no colours', TERMINAL, { TERM: 'dumb' }, undefined, false],
  ['a terminal with NO_COLOR', TERMINAL, { ...XTERM, NO_COLOR: '1' }, undefined, false],
  ['a terminal with an empty NO_COLOR', TERMINAL, { ...XTERM, NO_COLOR: '' }, undefined, true],
  ['a pipe with FORCE_COLOR', PIPE, { FORCE_COLOR: '1' }, undefined, true],
  ['a terminal with FORCE_COLOR=0', TERMINAL, { ...XTERM, FORCE_COLOR: '0' }, undefined, false],
  ['NO_COLOR and FORCE_COLOR at once', PIPE, { NO_COLOR: '1', FORCE_COLOR: '1' }, undefined, false],
  ['a pipe with --color always, against NO_COLOR', PIPE, { NO_COLOR: '1' }, 'always', true],
  ['a terminal with --color never', TERMINAL, XTERM, 'never', false],
])('%s', (_where, stream, env, asked, isColoured) => {
  const { red } = coloursFor(stream, env, asked)
  expect(red('text')).toBe(isColoured ? '\u001b[31mtext\u001b[39m' : 'text')
})

test('an empty text has no escape sequences', () => {
  expect(coloursFor(PIPE, {}, 'always').bold('')).toBe('')
})
