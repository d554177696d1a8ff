import { expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

const ESC = '\u001b'
/** Clipboard, title, cursor, a bell, a reversed file name, and a colour: as `printf` writes them. */
const HOSTILE = String.raw`\033]52;c;cm0gLXJm\007 \033]0;owned\007 \033[2J\033[1;1H \a \342\200\256gpj.exe \033[31mred\033[0m`
const PRINTS = `printf '${HOSTILE}\\n'`

/** Colours are the only escape sequences of the output that reach the terminal. */
function expectHarmless(shown: string): void {
  expect(shown).toContain('red')
  expect(shown).not.toContain(`${ESC}]`)
  expect(shown).not.toContain(`${ESC}[2J`)
  expect(shown).not.toContain('\u0007')
  expect(shown).not.toContain('\u202e')
}

test('logs prints only colours to a terminal, and all bytes into a pipe or with --raw', async () => {
  const line = new CommandLine()
  await line.run(['run', '-d', '--name', 'hostile', '-c', PRINTS])
  await line.run(['wait', 'hostile'])
  const terminal = line.terminal(['logs', 'hostile'])
  await terminal.ended
  expectHarmless(terminal.shown)
  expect(terminal.shown).toContain(`${ESC}[31mred${ESC}[0m`)
  expect(terminal.shown).toContain('<U+202E>gpj.exe')
  const { stdout } = await line.run(['logs', 'hostile'])
  expect(stdout).toContain(`${ESC}]52;c;cm0gLXJm\u0007`)
  const raw = line.terminal(['logs', '--raw', 'hostile'])
  await raw.ended
  expect(raw.shown).toContain(`${ESC}]52;c;cm0gLXJm\u0007`)
})

test('every subcommand that shows untrusted text prints only colours to a terminal', async () => {
  const line = new CommandLine()
  const pid = (
    await line.run(['run', '-d', '--name', 'hostile', '--watch', 'red', '-c', PRINTS])
  ).stdout.trim()
  await line.run(['wait', 'hostile'])
  await line.run(['wait', 'hostile', '--until', 'red'])
  for (const words of [
    ['inbox'],
    ['show', pid],
    ['ps', '-a'],
    ['tree', '-a'],
    ['events', pid],
    ['search', pid, 'red'],
    ['wait', pid, '--until', 'red'],
    ['inbox', '--jsonl'],
    ['events', pid, '--jsonl'],
    ['top', '--once'],
  ]) {
    const terminal = line.terminal(words, { cols: 400, rows: 50 })
    await terminal.ended
    expect(terminal.shown, words.join(' ')).not.toBe('')
    // The command has ended, and top shows running processes.
    if (words[0] !== 'top') expectHarmless(terminal.shown)
  }
})
