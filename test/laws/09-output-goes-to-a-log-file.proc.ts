import { expect, test } from 'vitest'
import { printed, runs, start, TempReeve } from '../command/commands.ts'
import { filesWith } from '../files-with.ts'

/** Printed, but in no command line: that is in the record, and may be. */
const SAID = 'd5b7c2e8-said-by-a-command'
const PRINTS = "printf '%s%s\\n' d5b7c2e8-said -by-a-command"
const TYPED = '9f31aa60-typed-into-a-command'

test('command output is in its log file and in no other file, also after it was read', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 's' })
  const owner = { owner: { session: 's' } }
  const piped = await runs(reeve, PRINTS, owner)
  const failed = await runs(reeve, `${PRINTS} >&2; exit 1`, owner)
  const terminal = await runs(reeve, { run: PRINTS, pty: true }, owner)
  const direct = await runs(reeve, { run: PRINTS, output: 'direct' }, owner)
  const live = await start(reeve, { run: `${PRINTS}; cat`, stdin: 'pipe' }, owner)
  await reeve.submit({ pid: live.pid, text: TYPED })
  await printed(reeve, live.pid, TYPED)
  const all = [piped.pid, failed.pid, terminal.pid, direct.pid, live.pid]
  for (const pid of all) {
    for (const door of [reeve, reeve.as('session:s')]) {
      expect((await door.poll({ pid })).text).toContain(SAID)
      await door.log({ pid })
      await door.search({ pid, text: SAID })
      expect(await door.wait({ pid, until: { text: SAID } })).toMatchObject({ type: 'matched' })
    }
  }
  await reeve.screen({ pid: terminal.pid })
  await reeve.kill({ pid: live.pid })

  const logs = new RegExp(`^commands/output/(${all.join('|')})/\\d{15}$`)
  const said = filesWith(temp.folder, SAID)
  expect(said).toHaveLength(5)
  expect(said.filter((path) => !logs.test(path))).toEqual([])
  expect(filesWith(temp.folder, TYPED).filter((path) => !logs.test(path))).toEqual([])
  // The search itself sees into the database and its write-ahead log.
  const inStore = filesWith(temp.folder, 'd5b7c2e8-said -by-a-command')
  expect(inStore.some((path) => path.startsWith('reeve.db'))).toBe(true)
  expect(
    (await reeve.events({ pid: piped.pid })).events.map((event) => JSON.stringify(event)).join(),
  ).not.toContain(SAID)
})

test('an outcome has the length of the output, and no output', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { outcome } = await runs(reeve, `${PRINTS}; exit 1`)
  expect(outcome?.result).toMatchObject({ outputBytes: SAID.length + 1 })
  expect(JSON.stringify(outcome)).not.toContain(SAID)
})
