import type { ProcessRecord } from 'reeve'
import { expect, test } from 'vitest'
import { type CommandEvidence, proveCommands } from '../../src/demo/command-proofs.ts'

const sound: CommandEvidence = {
  counted: ['1', '2', '3'],
  printed: 'line 1\nline 2\nline 3\n',
  atKill: 1,
  atReturn: 2,
  endedMeanwhile: ['p_build'],
  screen: ['$ answer=41', '$ echo $((answer + 1))', '42', '$ exit 3'],
  build: ended('p_build', 7),
  shell: ended('p_shell', 3),
}

test('sound evidence fails no proof', () => {
  expect(failing(sound)).toEqual([])
})

test.each([
  ['that is missing', 'line 1\nline 3\n'],
  ['that came twice', 'line 1\nline 2\nline 2\nline 3\n'],
  ['in the wrong order', 'line 2\nline 1\nline 3\n'],
  ['at the end that is missing', 'line 1\nline 2\n'],
])('a line %s fails a proof', (_which, printed) => {
  expect(failing({ ...sound, printed })).toEqual(['count printed 3 lines, and its log has them'])
})

test('a command that stood still while no kernel ran fails a proof', () => {
  expect(failing({ ...sound, atReturn: 1 })).toEqual(['0 of them were printed while no kernel ran.'])
})

test('an exit code that is not the real one fails a proof', () => {
  const build = 'build ended while no kernel ran, and its exit code is known'
  expect(failing({ ...sound, build: ended('p_build', 0) })).toEqual([build])
  expect(failing({ ...sound, endedMeanwhile: [] })).toEqual([build])
})

test('a terminal that lost its input, or is another one, fails a proof', () => {
  const shell = 'shell kept its terminal'
  expect(failing({ ...sound, screen: sound.screen.slice(1) })).toEqual([shell])
  expect(failing({ ...sound, screen: sound.screen.map((line) => (line === '42' ? '1' : line)) })).toEqual([
    shell,
  ])
  expect(failing({ ...sound, shell: ended('p_shell', null) })).toEqual([shell])
})

function failing(evidence: CommandEvidence): string[] {
  const failed = proveCommands(evidence).filter(({ holds }) => !holds)
  return failed.map(({ text }) => text.split(':')[0] ?? text)
}

function ended(pid: string, exitCode: number | null): ProcessRecord {
  return { pid, outcome: { exitCode } } as ProcessRecord
}
