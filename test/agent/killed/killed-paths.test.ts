import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { embed } from 'reeve'
import { openMemory } from 'reeve/testing'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/store/system-clock.ts'
import { type Death, DyingStore, type LivingHolders } from '../../dying-store.ts'
import { tempFolder } from '../../temp-folder.ts'
import { TEST_PRESET } from '../../test-preset.ts'

const GIVEN = { one: 'src/a' }

/** An agent with a child that has a folder of its own, over kernels of which the first dies with one of its writes. */
async function delegate(workspace: string, death: Death | null): Promise<{ readonly writes: number }> {
  const inner = await openMemory({ clock: systemClock })
  const living: LivingHolders = new Set()
  const first = new DyingStore(inner, death, living)
  await Promise.race([live(first, workspace), first.death])
  if (first.isDead) await live(new DyingStore(inner, null, living), workspace)
  return { writes: first.writes }
}

async function live({ store }: DyingStore, workspace: string): Promise<void> {
  const reeve = await embed({ store, ...TEST_PRESET })
  const spec = { agent: 'lead', model: 'scripted/lead.json' }
  const { record } = await reeve.spawn({ kind: 'agent', idempotencyKey: 'lead', cwd: workspace, spec })
  const { pid: parent } = record
  for (const [name, path] of Object.entries(GIVEN)) {
    const asked = { parent, name, goal: name, model: `scripted/${name}.json`, once: true }
    const { record: child } = await reeve.spawnAgent({ ...asked, paths: [path], idempotencyKey: name })
    await reeve.wait({ pid: child.pid })
    const { agents } = await reeve.agents({ parent, ended: true })
    expect(agents.find(({ pid }) => pid === child.pid)).toMatchObject({ status: 'completed', paths: null })
  }
  const { agents } = await reeve.agents({ parent, ended: true })
  expect(agents).toHaveLength(1)
  const row = await store.ask({ ask: 'liens', host: await hostOf(store) })
  expect(row?.liens ?? []).toEqual([])
  await reeve.close()
}

async function hostOf(store: DyingStore['store']): Promise<string> {
  const [holder] = await store.ask({ ask: 'holders' })
  return holder?.host ?? ''
}

test.each(['before', 'after'] as const)(
  'the paths of an agent are held while it lives and free afterwards if the kernel dies %s any commit',
  { timeout: 60_000 },
  async (when) => {
    const workspace = tempFolder()
    mkdirSync(join(workspace, 'src'))
    const says = (text: string) => ({ parts: [{ text }] })
    write(workspace, 'lead.json', { answers: [says('ok')], atEnd: 'repeat' })
    for (const [name, path] of Object.entries(GIVEN)) {
      const content = { tool: 'write_file', input: { path: `${path}/x`, content: name } }
      write(workspace, `${name}.json`, { answers: [{ parts: [content] }, says('done')] })
    }
    const { writes } = await delegate(workspace, null)
    expect(writes).toBeGreaterThan(10)
    for (let commit = 1; commit <= writes; commit++) await delegate(workspace, { commit, when })
  },
)

function write(workspace: string, name: string, script: object): void {
  writeFileSync(join(workspace, name), JSON.stringify(script))
}
