import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { quickFolder } from '../quick-folder.ts'
import { leftBy } from './left-by.ts'
import { runNode } from './run-node.ts'

test('a parent gets its children’s results and a signal that was sent before it waited', async () => {
  expect(await run('parent-and-children')).toBe(
    [
      'magazine completed {',
      "  drafts: [ 'a draft about owls', 'a draft about rivers', 'a draft about tea' ],",
      "  approvedBy: 'the editor'",
      '}',
      '  child completed a draft about owls',
      '  child completed a draft about rivers',
      '  child completed a draft about tea',
      '',
    ].join('\n'),
  )
})

test('when one of two workers is killed the other finishes the work of both', async () => {
  expect(await run('two-workers')).toBe(
    [
      'anna and bert have begun three parcels each',
      'anna was killed',
      'parcel 1: completed, delivered by bert, attempts: 2',
      'parcel 2: completed, delivered by bert, attempts: 2',
      'parcel 3: completed, delivered by bert, attempts: 2',
      'parcel 4: completed, delivered by bert, attempts: 1',
      'parcel 5: completed, delivered by bert, attempts: 1',
      'parcel 6: completed, delivered by bert, attempts: 1',
      '',
    ].join('\n'),
  )
})

test('a workflow that is killed continues in another program, and runs no step twice', async () => {
  expect(await run('workflow')).toBe(
    [
      'killed after the first step, while it waited',
      "completed { item: 'a lamp', receipt: 'receipt 1', address: 'Elm Street 5' }",
      'charged for a lamp',
      'shipped a lamp to Elm Street 5',
      '',
    ].join('\n'),
  )
})

test('a follower resumes from its stored position, without gap or repeat', async () => {
  expect(await run('follow-changes')).toBe(
    [
      'handled positions 1 2 3 4 and stopped',
      'meanwhile the feed grew to 15 events',
      'handled positions 5 6 7 8 9 10 11 12 13 14 15',
      'missed: 0, twice: 0',
      '',
    ].join('\n'),
  )
})

test('a command keeps its output and exit code when its daemon is killed', async () => {
  expect(await run('background-command')).toBe(
    [
      'the build has begun, and its daemon was killed',
      'came back: 1 command is still running',
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((step) => `step ${step} of 8`),
      'build failed 3',
      '',
    ].join('\n'),
  )
})

test('a program in a terminal can be questioned, answered and read', async () => {
  expect(await run('drive-a-terminal')).toBe(
    [
      '│ Where to? [/opt/tea] /tmp/tea',
      '│ Password:',
      '│ Installing into /tmp/tea, with a password of 6 letters',
      '│ Done.',
      'installer completed',
      '',
    ].join('\n'),
  )
})

/** Runs an example as its README says, checks that it leaves nothing behind, and returns its output. */
async function run(example: string): Promise<string> {
  const folder = mkdtempSync(join(quickFolder, 'examples-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const ran = await runNode([`examples/${example}.ts`], { env: { TMPDIR: folder } })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(readdirSync(folder)).toEqual([])
  // A keeper without programs takes a moment to exit.
  await expect.poll(() => leftBy(folder)).toEqual([])
  return ran.stdout
}
