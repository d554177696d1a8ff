import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { embed } from 'reeve'
import { openMemory } from 'reeve/testing'
import { expect, test } from 'vitest'
import { type JsonObject, objectOf } from '../../../src/core/json/json.ts'
import { systemClock } from '../../../src/store/system-clock.ts'
import { type Death, DyingStore, type LivingHolders } from '../../dying-store.ts'
import { isLongRun } from '../../long-run.ts'
import { tempFolder } from '../../temp-folder.ts'
import { TEST_PRESET } from '../../test-preset.ts'
import { payloads } from '../scripted-agent.ts'

const CHILDREN = ['one', 'two']

/** In `npm test` every second commit: the death after one leaves the same store as the death before the next. */
const STEP = isLongRun ? 1 : 2

type Live = (store: DyingStore, workspace: string) => Promise<void>

/** An agent with children, over kernels of which the first dies with one of its writes. */
async function delegate(
  live: Live,
  workspace: string,
  death: Death | null,
): Promise<{ readonly writes: number }> {
  const inner = await openMemory({ clock: systemClock })
  const living: LivingHolders = new Set()
  const first = new DyingStore(inner, death, living)
  await Promise.race([live(first, workspace), first.death])
  if (first.isDead) await live(new DyingStore(inner, null, living), workspace)
  return { writes: first.writes }
}

async function live({ store }: DyingStore, workspace: string): Promise<void> {
  const reeve = await embed({ store, ...TEST_PRESET })
  const spec = { agent: 'lead', model: 'scripted/lead.json', goal: 'all of it' }
  const { record } = await reeve.spawn({ kind: 'agent', idempotencyKey: 'lead', cwd: workspace, spec })
  const { pid } = record
  const told = () => payloads(reeve, pid, 'notice_buffered')
  await expect.poll(async () => (await told()).length, { timeout: 30_000 }).toBe(CHILDREN.length)
  await reeve.waitAgent({ pid })
  const reports = (await told()).map(reportIn)
  const { agents } = await reeve.agents({ parent: pid, ended: true })
  expect(agents).toHaveLength(CHILDREN.length)
  expect(reports.map((one) => one['pid']).toSorted()).toEqual(agents.map((one) => one.pid).toSorted())
  expect(reports).toMatchObject(agents.map(() => ({ turn: 1, state: 'finished', isEnd: false })))
  await reeve.close()
}

function reportIn({ parts }: JsonObject): JsonObject {
  const [first = null] = Array.isArray(parts) ? parts : []
  return objectOf(objectOf(first)['report'] ?? null)
}

test.each(['before', 'after'] as const)(
  'each child is spawned once and reported once if the kernel dies %s any commit',
  { timeout: 60_000 },
  async (when) => {
    const workspace = tempFolder()
    const spawns = CHILDREN.map((goal) => ({
      tool: 'agent_spawn',
      input: { goal, model: 'scripted/child.json' },
    }))
    const says = { parts: [{ text: 'I wait.' }] }
    write(workspace, 'lead.json', { answers: [{ parts: spawns }, says, says, says] })
    write(workspace, 'child.json', { answers: [{ parts: [{ text: 'done' }] }] })
    const { writes } = await delegate(live, workspace, null)
    expect(writes).toBeGreaterThan(10)
    for (let commit = 1; commit <= writes; commit += STEP) await delegate(live, workspace, { commit, when })
  },
)

/** The parent of a group, until it has read the report. */
async function liveWithGroup({ store }: DyingStore, workspace: string): Promise<void> {
  const reeve = await embed({ store, ...TEST_PRESET })
  const spec = { agent: 'lead', model: 'scripted/group.json', goal: 'all of it' }
  const { record } = await reeve.spawn({ kind: 'agent', idempotencyKey: 'lead', cwd: workspace, spec })
  const { pid } = record
  const promoted = () => payloads(reeve, pid, 'notices_promoted')
  await expect.poll(async () => (await promoted()).length, { timeout: 30_000 }).toBe(1)
  await reeve.waitAgent({ pid })
  const told = await payloads(reeve, pid, 'notice_buffered')
  const { items } = await reeve.agentLog({ pid, last: 100 })
  const read = items.flatMap((item) => (item.type === 'notices_promoted' ? [item.payload.parts] : []))
  const { agents } = await reeve.agents({ parent: pid, ended: true })
  expect(agents).toHaveLength(SEATS.length)
  expect(told).toHaveLength(SEATS.length + 1)
  expect(read).toHaveLength(1)
  expect(read[0]?.map((part) => objectOf(part['report'] ?? null)['goal'])).toEqual([undefined, ...SEATS])
  await reeve.close()
}

const SEATS = ['one', 'two', 'three']

test.each(['before', 'after'] as const)(
  'a group gives one report in order if the kernel dies %s any commit',
  { timeout: 60_000 },
  async (when) => {
    const workspace = tempFolder()
    const spawn = { tool: 'agent_spawn', input: { goals: SEATS, model: 'scripted/child.json' } }
    const says = { parts: [{ text: 'I wait.' }] }
    write(workspace, 'group.json', { answers: [{ parts: [spawn] }, says, says] })
    write(workspace, 'child.json', { answers: [{ parts: [{ text: 'done' }] }] })
    const { writes } = await delegate(liveWithGroup, workspace, null)
    const step = isLongRun ? 1 : 3
    for (let commit = when === 'before' ? 1 : 2; commit <= writes; commit += step)
      await delegate(liveWithGroup, workspace, { commit, when })
  },
)

function write(workspace: string, name: string, script: object): void {
  writeFileSync(join(workspace, name), JSON.stringify(script))
}
