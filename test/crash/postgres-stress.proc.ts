import { embed, type Reeve, StoreError, type ToolHandler } from 'reeve'
import { openPostgres } from 'reeve/postgres'
import { expect, onTestFinished, test } from 'vitest'
import { assertSound } from '../../src/testing/conformance/sound.ts'
import { seededRandom } from '../../src/testing/test-edges.ts'
import { startPostgres } from '../postgres-server.ts'
import { quickFolder } from '../quick-folder.ts'

const CALLERS = 6
const EACH = 40
const RESTARTS = 3

for (const seed of [1, 2])
  test(`three kernels keep the laws while PostgreSQL is restarted under them, seed ${seed}`, {
    timeout: 300_000,
  }, async () => {
    const random = seededRandom(seed)
    const server = await startPostgres(quickFolder)
    onTestFinished(() => server.stop())
    const executed = new Map<string, number>()
    const kernels = await Promise.all(
      [1, 2, 3].map(() => embed({ store: server.url, tools: tools(executed), ...QUIET })),
    )
    await kernels[0]?.openSession({ session: 's1' })

    const acknowledged: string[] = []
    let asked = 0
    const callers = Array.from({ length: CALLERS }, async () => {
      for (let count = 0; count < EACH; count++) {
        asked += 1
        const reeve = kernels[Math.floor(random() * kernels.length)] as Reeve
        const pid = await orNothing(spawnSomething(reeve, random))
        if (pid === undefined) continue
        acknowledged.push(pid)
        if (random() < 0.2) await orNothing(reeve.signal({ pid, signal: random() < 0.5 ? 'cancel' : 'kill' }))
        if (random() < 0.5) await orNothing(reeve.send({ pid, name: 'go' }))
      }
    })
    const due = Array.from(
      { length: RESTARTS },
      (_, index) => ((index + 1) * CALLERS * EACH) / (RESTARTS + 1),
    )
    const restarts = (async () => {
      for (const at of due) {
        while (asked < at) await new Promise((resolve) => setImmediate(resolve))
        await server.restart()
      }
    })()
    await Promise.all([...callers, restarts])

    const boss = kernels[0] as Reeve
    // Some senders could not send their signal: sends it to the processes that still wait for it.
    for (const { record } of (await boss.list({ filter: { waiting: 'signal' }, limit: 1_000 })).processes)
      await boss.send({ pid: record.pid, name: 'go' }).catch(ignoreEnded)
    const ended = await Promise.all(acknowledged.map((pid) => settled(boss, pid)))
    expect(ended.length, 'some were acknowledged').toBeGreaterThan(EACH)
    for (const { pid, outcome, recovery, attempts } of ended) {
      expect(outcome, pid).not.toBeNull()
      // All kernels live, so nothing is begun twice, even if its recovery would allow it.
      expect([recovery, executed.get(pid) ?? 0], pid).toEqual([recovery, attempts])
      expect(attempts, pid).toBeLessThanOrEqual(1)
    }
    await Promise.all(kernels.map((reeve) => reeve.close()))
    const store = await openPostgres(server.url)
    await assertSound(store)
    await store.close()
  })

/** Restarts are expected here; every other background error is a failure. */
const QUIET = {
  onTrouble: (error: unknown) => {
    if (!(error instanceof StoreError)) throw error
  },
}

function tools(executed: Map<string, number>): Record<string, ToolHandler> {
  const begun = (pid: string) => executed.set(pid, (executed.get(pid) ?? 0) + 1)
  return {
    quick: ({ pid }) => {
      begun(pid)
      return pid
    },
    patient: async ({ pid, waitForSignal }) => {
      begun(pid)
      return (await waitForSignal('go')).type
    },
  }
}

async function spawnSomething(reeve: Reeve, random: () => number): Promise<string> {
  const tool = random() < 0.6 ? 'quick' : 'patient'
  const recovery = random() < 0.5 ? 'rerunnable' : 'bound'
  const owner = random() < 0.3 ? { session: 's1' } : {}
  return (await reeve.spawn({ kind: 'tool', spec: { tool }, recovery, owner })).record.pid
}

async function settled(reeve: Reeve, pid: string) {
  for (;;) {
    const ended = await reeve.wait({ pid, timeoutMs: 2_000 })
    if (ended.type === 'ended') return ended.record
    await reeve.send({ pid, name: 'go' }).catch(ignoreEnded)
  }
}

/** While the server is away a call may fail, and then nothing was acknowledged. */
async function orNothing<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof StoreError || isEnded(error)) return undefined
    throw error
  }
}

function ignoreEnded(error: unknown): void {
  if (!isEnded(error)) throw error
}

function isEnded(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'already_ended'
}
