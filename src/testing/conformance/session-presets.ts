import assert from 'node:assert/strict'
import type { Preset } from '../../core/capability/presets.ts'
import type { Actor } from '../../core/process/record.ts'
import type { Edges } from '../../kernel/edges.ts'
import { markDeleted, openSession } from '../../kernel/sessions.ts'
import { changeRules, ruleSet, rulesInPlan } from './authority-rows.ts'
import { type Behaves, type Bench, codeOf } from './bench.ts'
import { auditedEntries, snapshotBesidesAudit, snapshotOf } from './sound.ts'

/** The presets that sessions begin with. */
export function sessionPresets(behaves: Behaves): void {
  const opening = (edges: Edges, actor: Actor, id: string, preset: Preset, mayBePerson = true) =>
    openSession(edges, actor, id, null, undefined, undefined, undefined, { preset, by: actor, mayBePerson })
  const presetsOf = async (bench: Bench, id: string) => {
    const set = await rulesInPlan(bench.store, `session:${id}`)
    return [...new Set(set?.rules.map(({ preset }) => preset))]
  }

  behaves('a new session has the preset of the settings from its first moment on', async (bench) => {
    const edges = { ...bench.edges, sessionPreset: 'observe' } as const
    await openSession(edges, 'session:s1', 's1', null)
    const set = await rulesInPlan(bench.store, 'session:s1')
    assert.equal(set?.closed, true)
    assert.deepEqual([...new Set(set.rules.map(({ preset }) => preset))], ['observe'])
    const entries = await auditedEntries(bench.store)
    assert.deepEqual(
      entries.map(({ action, target, inputs }) => ({ action, target, inputs })),
      [{ action: 'setPreset', target: 'session:s1', inputs: { preset: 'observe' } }],
    )
    await openSession({ ...bench.edges, sessionPreset: 'full' }, 'session:s1', 's1', null)
    assert.deepEqual(await rulesInPlan(bench.store, 'session:s1'), set)
    await openSession(bench.edges, 'session:s2', 's2', null)
    assert.equal(await rulesInPlan(bench.store, 'session:s2'), null)
  })

  behaves('a session begins with the preset that it is opened with', async (bench) => {
    await opening(bench.edges, 'session:s1', 's1', 'ask')
    assert.deepEqual(await presetsOf(bench, 's1'), ['ask'])
    const [entry] = await auditedEntries(bench.store)
    assert.deepEqual(
      [entry?.action, entry?.target, entry?.inputs],
      ['setPreset', 'session:s1', { preset: 'ask' }],
    )
    assert.equal(
      await codeOf(markDeleted(bench.edges, 'session:s1', 's1')),
      'denied',
      'it would open itself without',
    )
    const before = await snapshotOf(bench.store)
    await opening(bench.edges, 'session:s1', 's1', 'ask')
    await opening(bench.edges, 'session:s1', 's1', 'full')
    assert.deepEqual(await snapshotOf(bench.store), before, 'a stricter preset is kept')
    assert.equal(await codeOf(opening(bench.edges, 'session:s1', 's1', 'observe')), 'conflict')
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves(
    'an open session without rules gets its first preset, and one with rules only from people',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      await opening(bench.edges, 'session:s1', 's1', 'observe')
      assert.deepEqual(await presetsOf(bench, 's1'), ['observe'])
      await openSession(bench.edges, 'host', 's2', null)
      await changeRules(bench.store, 'session:s2', () => ({
        ...ruleSet('session:s2'),
        rules: [{ id: 'r1', effect: 'allow', rights: ['read'], resource: 'fs:src/**' }],
      }))
      const before = await snapshotBesidesAudit(bench.store)
      assert.equal(await codeOf(opening(bench.edges, 'session:s2', 's2', 'full')), 'denied')
      assert.equal(
        await codeOf(opening(bench.edges, 'host', 's2', 'full', false)),
        'denied',
        'a program of Reeve',
      )
      assert.deepEqual(await snapshotBesidesAudit(bench.store), before)
      await opening(bench.edges, 'human:ada', 's2', 'full')
      assert.deepEqual(await presetsOf(bench, 's2'), [undefined, 'full'])
    },
  )

  behaves(
    'only an actor that gives rules opens a session with more than the preset of the settings',
    async (bench) => {
      const edges = { ...bench.edges, sessionPreset: 'ask' } as const
      assert.equal(await codeOf(opening(edges, 'session:s1', 's1', 'edit')), 'denied')
      assert.equal(await codeOf(opening(edges, 'host', 's1', 'edit', false)), 'denied', 'a program of Reeve')
      assert.equal(await bench.store.ask({ ask: 'session', id: 's1' }), null)
      await opening(edges, 'session:s1', 's1', 'observe')
      assert.deepEqual(await presetsOf(bench, 's1'), ['observe'])
      await opening(edges, 'host', 's2', 'edit')
      assert.deepEqual(await presetsOf(bench, 's2'), ['edit'])
    },
  )
}
