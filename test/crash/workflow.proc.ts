import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { embed } from 'reeve'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isLongRun } from '../long-run.ts'
import { ramFolder } from '../simulation/ram-folder.ts'
import { NEW_STORES } from './new-stores.ts'
import { startProgram } from './program.ts'

const SIZES: { readonly [store: string]: { steps: number; kills: number } } = {
  SQLite: isLongRun ? { steps: 10_000, kills: 50 } : { steps: 1_000, kills: 5 },
  PostgreSQL: isLongRun ? { steps: 10_000, kills: 50 } : { steps: 500, kills: 5 },
}

describe.each(NEW_STORES)('%s', (name, newStore) => {
  const { steps: STEPS = 0, kills: KILLS = 0 } = SIZES[name] ?? {}
  test(`a function of ${STEPS} steps that is killed ${KILLS} times has each step once in the log, and the right result`, {
    timeout: 600_000,
  }, async () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const random = mulberry(seed)
    const folder = inMemory()
    const store = name === 'SQLite' ? join(folder, 'reeve.db') : await newStore()
    const log = join(folder, 'ran')
    const gate = join(folder, 'gate')
    writeFileSync(gate, '0')
    const boss = await embed({ store, times: { sweepMs: 100 } })
    const { record } = await boss.spawn({
      kind: 'workflow',
      spec: { workflow: 'count', input: { steps: STEPS } },
    })
    const { pid } = record
    let after = 0
    let program = await startProgram('workflow', [store, log, gate])
    for (let kill = 0; kill < KILLS; kill++) {
      // Already there when the other one dies: it takes over.
      const heir = await startProgram('workflow', [store, log, gate])
      // Somewhere in its own stretch, so that kills are spread over the whole run.
      const stretch = Math.floor(STEPS / KILLS)
      const goal = kill * stretch + 1 + Math.floor(random() * (stretch - 1))
      writeFileSync(gate, String((kill + 1) * stretch))
      for await (const { type, payload, position } of boss.follow({ after })) {
        after = position
        if (type === 'step_ended' && (payload as { stepIndex: number }).stepIndex >= goal) break
      }
      await program.kill()
      program = heir
    }
    writeFileSync(gate, String(STEPS))
    await program.says('ended')
    const ended = await boss.show({ pid })
    const said = `seed ${seed}`
    expect(ended.outcome, said).toMatchObject({ status: 'completed', result: (STEPS * (STEPS + 1)) / 2 })
    expect(await stepsIn(boss, pid), said).toEqual(Array.from({ length: STEPS }, (_, index) => index + 1))
    const ran = readFileSync(log, 'utf8').trim().split('\n').map(Number)
    // Only the step that was under way at a kill may have run twice.
    expect(new Set(ran).size, said).toBe(STEPS)
    expect(ran.length, said).toBeLessThanOrEqual(STEPS + KILLS)
    await boss.close()
  })
})

/** A kill loses nothing that a disk would keep, so memory will do; and ten thousand commits are over sooner. */
function inMemory(): string {
  const folder = ramFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function stepsIn(boss: Awaited<ReturnType<typeof embed>>, pid: string): Promise<number[]> {
  const stepIndexes: number[] = []
  for (let after = 0; ; ) {
    const { events } = await boss.events({ pid, after, limit: 1_000 })
    for (const { type, payload } of events)
      if (type === 'step_ended') stepIndexes.push((payload as { stepIndex: number }).stepIndex)
    if (events.length < 1_000) return stepIndexes
    after = events.at(-1)?.seq ?? after
  }
}

function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
