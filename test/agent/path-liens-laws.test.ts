import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import fc from 'fast-check'
import { testEdges } from 'reeve/testing'
import { expect, test } from 'vitest'
import { resolveIn } from '../../src/agent/tools/files/workspace-path.ts'
import type { Proof } from '../../src/core/lease/holder.ts'
import { pathsInSpec } from '../../src/core/lien/lien.ts'
import { refuseWrite } from '../../src/core/lien/refuse-write.ts'
import type { ProcessRecord } from '../../src/core/process/record.ts'
import { isRefusal } from '../../src/core/refusal.ts'
import { pathsIn } from '../../src/embed/delegated-paths.ts'
import { claimAndStart } from '../../src/kernel/claim.ts'
import { perform } from '../../src/kernel/perform.ts'
import { recover } from '../../src/kernel/recover.ts'
import { register } from '../../src/kernel/register.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'
import { holderNamed } from '../../src/testing/test-kernel.ts'
import { tempFolder, tempStore } from '../temp-folder.ts'

const HOST = 'laptop'
const FOLDERS = ['a', 'a/b', 'a/b/c', 'd', 'd/e', 'D']
const SPELLINGS = [...FOLDERS, 'link', 'link/b', 'd/../a/b', './d//e', 'new/one', 'A']
const ENDS = ['completed', 'failed', 'cancelled', 'abandoned', 'stopped'] as const

const move = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('spawn' as const),
      parent: fc.nat(9),
      paths: fc.uniqueArray(fc.constantFrom(...SPELLINGS), { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('end' as const), of: fc.nat(9), how: fc.constantFrom(...ENDS) }),
  },
  fc.record({ do: fc.constant('silence' as const) }),
  fc.record({ do: fc.constant('lose' as const), of: fc.nat(9) }),
  fc.record({ do: fc.constant('rename' as const), of: fc.constantFrom(...FOLDERS) }),
  fc.record({ do: fc.constant('relink' as const), to: fc.constantFrom(...FOLDERS) }),
)

/** Agents in one workspace, over a kernel of which only the executors are missing. */
class Workspace {
  readonly root = realpathSync(tempFolder())
  readonly clock = simulatedClock()
  readonly #proofs = new Map<string, Proof>()
  readonly #open = openSqlite(tempStore())
  #edges: ReturnType<typeof testEdges> | undefined
  #holders = 0

  async edges() {
    const prove = ({ id }: { readonly id: string }) => this.#proofs.get(id) ?? 'unknown'
    this.#edges ??= testEdges(await this.#open, { clock: this.clock, prove })
    return this.#edges
  }

  async close() {
    await (await this.#open).close()
  }

  async record(pid: string): Promise<ProcessRecord> {
    const row = await (await this.edges()).store.ask({ ask: 'process', pid })
    if (row === null) throw new Error(`There is no ${pid}`)
    return row.record
  }

  async spawn(pid: string, parent: string | null, given: readonly string[]): Promise<boolean> {
    const above = parent === null ? null : await this.record(parent)
    const paths =
      above === null ? {} : { paths: pathsInSpec({ host: HOST, ...(await pathsIn(above, given)) }) }
    const spec = { agent: 'coder', model: 'scripted/demo', goal: 'x', delegation: { depth: 16 }, ...paths }
    const request = { kind: 'agent', spec, cwd: this.root, ...(parent === null ? {} : { parent }) } as const
    const answer = await register(await this.edges(), [{ request, pid, actor: 'host' }], 'none')
    if (isRefusal(answer)) {
      expect(['path_held', 'already_ended', 'stopping']).toContain(answer.code)
      return false
    }
    await this.claim(pid)
    return true
  }

  /** By a new holder. */
  async claim(pid: string): Promise<void> {
    this.#holders += 1
    const holder = `k_${this.#holders}`
    const edges = await this.edges()
    await edges.store.write(function* () {
      yield []
      return { answer: undefined, changes: [{ type: 'holder', holder: holderNamed(holder), ttlMs: 1_000 }] }
    })
    expect(await claimAndStart(edges, [pid], holder)).toHaveLength(1)
  }

  async end(pid: string, how: (typeof ENDS)[number]): Promise<void> {
    const edges = await this.edges()
    const row = await edges.store.ask({ ask: 'process', pid })
    if (row === null || row.record.outcome !== null || row.holder === null) return
    const { holder, fence } = row
    const asked = { pid, actor: `kernel:${holder}`, at: this.clock.now() } as const
    if (how === 'stopped')
      await perform(edges, {
        ...asked,
        type: 'stop',
        how: 'cancel',
        reason: 'x',
        cause: null,
        replayKey: 's',
      })
    const answer = await perform(
      edges,
      how === 'abandoned'
        ? { ...asked, type: 'abandon', observed: { holder, fence }, evidence: 'holder_dead' }
        : {
            ...asked,
            type: 'end',
            ending: { status: how === 'stopped' ? 'cancelled' : how },
            replayKey: 'end',
            fence: { holder, fence },
          },
    )
    expect(answer.type).toBe('appended')
  }

  /** Its holder is dead, and another one goes on with it. */
  async lose(pid: string): Promise<void> {
    const edges = await this.edges()
    const row = await edges.store.ask({ ask: 'process', pid })
    if (row === null || row.record.outcome !== null || row.holder === null) return
    this.#proofs.set(row.holder, 'dead')
    await recover(edges, { self: 'k_looker', backoff: { baseMs: 0, maxMs: 0 }, closed: () => false })
    this.clock.advance(1)
    await this.claim(pid)
  }

  async mayWrite(pid: string, path: string): Promise<boolean> {
    const { store } = await this.edges()
    const line: ProcessRecord[] = []
    for (let at: string | null = pid; at !== null; at = line.at(-1)?.parent ?? null)
      line.push(await this.record(at))
    return refuseWrite(await store.ask({ ask: 'liens', host: HOST }), line, path) === undefined
  }
}

test('whatever the paths are called and however agents end, two never hold one path, and silence gives nothing back', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 4, maxLength: 14 }), async (moves) => {
      const workspace = new Workspace()
      const { root } = workspace
      for (const folder of FOLDERS) mkdirSync(join(root, folder), { recursive: true })
      symlinkSync('a', join(root, 'link'))
      await workspace.spawn('p_000000000000', null, [])
      const pids = ['p_000000000000']
      for (const [index, one] of moves.entries()) {
        const pid = `p_${String(index + 1).padStart(12, '0')}`
        const at = (number: number) => pids[number % pids.length] ?? ''
        const before = await holders(workspace, pids)
        if (one.do === 'spawn' && (await workspace.spawn(pid, at(one.parent), one.paths))) pids.push(pid)
        if (one.do === 'end' && at(one.of) !== pids[0]) await workspace.end(at(one.of), one.how)
        if (one.do === 'lose') await workspace.lose(at(one.of))
        if (one.do === 'silence') workspace.clock.advance(100_000_000)
        if (one.do === 'rename') renameFolder(root, one.of)
        if (one.do === 'relink') relink(root, one.to)
        const after = await holders(workspace, pids)
        for (const [, found] of after) expect(found.length).toBeLessThanOrEqual(1)
        if (one.do === 'silence' || one.do === 'lose') expect(after).toEqual(before)
      }
      for (const pid of pids.slice(1)) await workspace.end(pid, 'completed')
      for (const spelled of SPELLINGS) {
        const { real } = await resolveIn(root, `${spelled}/file`)
        expect(await workspace.mayWrite(pids[0] ?? '', real)).toBe(true)
      }
      await workspace.close()
    }),
    { numRuns: process.env['REEVE_LONG'] === undefined ? 25 : 500 },
  )
})

/** Under each spelling of a path: the live agents with paths that may write it now. */
async function holders(workspace: Workspace, pids: readonly string[]) {
  const live: string[] = []
  for (const pid of pids.slice(1)) if ((await workspace.record(pid)).outcome === null) live.push(pid)
  return Promise.all(
    SPELLINGS.map(async (spelled) => {
      const { real } = await resolveIn(workspace.root, `${spelled}/file`)
      const may = await Promise.all(
        live.map(async (pid) => ((await workspace.mayWrite(pid, real)) ? [pid] : [])),
      )
      return [relative(workspace.root, real), may.flat()] as const
    }),
  )
}

/** The folder gets another name, and its old one again at the next move of it. */
function renameFolder(root: string, folder: string): void {
  const [from, to] = [join(root, folder), join(root, `${folder}-moved`)]
  try {
    renameSync(from, to)
  } catch {
    rmSync(to, { recursive: true, force: true })
    mkdirSync(from, { recursive: true })
  }
}

function relink(root: string, to: string): void {
  rmSync(join(root, 'link'))
  symlinkSync(to, join(root, 'link'))
}
