import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { embed } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite } from '../../../src/store/sqlite/open.ts'
import { type Death, DyingStore, type LivingHolders } from '../../dying-store.ts'
import { isLongRun } from '../../long-run.ts'
import { tempFolder, tempStore } from '../../temp-folder.ts'
import { TEST_PRESET } from '../../test-preset.ts'
import { HeldModel } from '../held-model.ts'
import { PlayedSession } from '../rewind-bench.ts'
import { payloads } from '../scripted-agent.ts'

const FILES = ['a.txt', 'b.txt', 'new.txt']
const BEFORE = ['one\n', 'one\n', null]
const AFTER = ['two\n', 'two\n', 'made']

/** A session with two turns, of which the second has changed files, and kernels that drive it one after the other. */
async function killedRewinds() {
  const workspace = realpathSync(tempFolder())
  const store = await openSqlite(tempStore())
  onTestFinished(() => store.close())
  const living: LivingHolders = new Set()
  const model = new HeldModel()
  const open = (dying: DyingStore) =>
    embed({ store: dying.store, models: { 'my/model': model }, ...TEST_PRESET })
  for (const name of ['a.txt', 'b.txt']) writeFileSync(join(workspace, name), 'one\n')
  const first = await open(new DyingStore(store, null, living))
  const spec = { agent: 'coder', model: 'my/model' }
  const { record } = await first.spawn({ kind: 'agent', cwd: workspace, spec })
  const { pid } = record
  const session = new PlayedSession(first, model, pid)
  await session.turn('one', [
    ['read_file', { path: 'a.txt' }],
    ['read_file', { path: 'b.txt' }],
  ])
  const edits = [{ oldText: 'one', newText: 'two' }]
  await session.turn('two', [
    ['edit_file', { path: 'a.txt', edits }],
    ['edit_file', { path: 'b.txt', edits }],
    ['write_file', { path: 'new.txt', content: 'made' }],
  ])
  await first.close()
  return {
    pid,
    open: () => open(new DyingStore(store, null, living)),
    texts: () =>
      FILES.map((name) =>
        existsSync(join(workspace, name)) ? readFileSync(join(workspace, name), 'utf8') : null,
      ),
    /** Asks a kernel that dies with one of its writes. Returns whether it died. */
    async die(death: Death, id: string): Promise<boolean> {
      const dying = new DyingStore(store, death, living)
      const ask = async () => {
        const reeve = await open(dying)
        const { turn } = await reeve.rewindAgent({ pid, id, turn: 2, undoFiles: true })
        await reeve.waitAgent({ pid, turn: turn ?? 0 })
        await reeve.waitAgent({ pid })
        // Its end writes, too.
        await reeve.close()
        return false
      }
      return Promise.race([ask(), dying.death.then(() => true)])
    },
  }
}

test.each(isLongRun ? (['before', 'after'] as const) : (['after'] as const))(
  'a rewind with its files, killed %s each of its commits, is done once and reported whole by the next kernel',
  { timeout: 600_000 },
  async (when) => {
    const { pid, open, texts, die } = await killedRewinds()
    let hasDied = true
    for (let commit = 1; hasDied; commit++) {
      const id = `r${commit}`
      hasDied = await die({ commit, when }, id)
      const reeve = await open()
      // The client lost the answer, and asks again.
      const answer = await reeve.rewindAgent({ pid, id, turn: 2, undoFiles: true })
      const turn = answer.turn ?? 0
      const waited = await reeve.waitAgent({ pid, turn })
      expect(waited, `commit ${commit}`).toMatchObject({
        type: 'turn_ended',
        turn: { reason: 'finished', result: { restored: 2, removed: 1, left: 0, more: 0 } },
      })
      expect(texts()).toEqual(BEFORE)
      const recorded = (await payloads(reeve, pid, 'files_put_back')).filter((one) => one['turn'] === turn)
      const paths = recorded.flatMap(({ files }) => files as unknown as { path: string }[])
      expect(new Set(paths.map(({ path }) => path)).size).toBe(paths.length)
      // And back again, for the next death.
      const again = await reeve.rewindAgent({ pid, branch: '2', undoFiles: true })
      expect(await reeve.waitAgent({ pid, turn: again.turn ?? 0 })).toMatchObject({
        turn: { result: { restored: 3, left: 0 } },
      })
      expect(texts()).toEqual(AFTER)
      await reeve.close()
    }
  },
)
