import assert from 'node:assert/strict'
import type { RuleSet } from '../../core/capability/rule-set.ts'
import { prune } from '../../kernel/prune.ts'
import { markDeleted, openSession } from '../../kernel/sessions.ts'
import { know, type Plan, type Store } from '../../store/contract.ts'
import { actUnderRules, auditEntry, changeRules, put, rule, ruleSet, rulesInPlan } from './authority-rows.ts'
import { type Behaves, OUTSIDE, pidOf, times } from './bench.ts'
import { auditedEntries } from './sound.ts'

const addRule = (id: string) => (was: RuleSet | null) => {
  const next = ruleSet(was?.subject ?? 'session:s1')
  return { ...next, rules: [...(was?.rules ?? []), rule(id)] }
}

/** Rule sets, which plans read without a lock, and the counted uses of their rules. */
export function ruleSets(behaves: Behaves): void {
  behaves('a rule set is read as it was written, and listed in the order of subjects', async (bench) => {
    const home = {
      ...ruleSet('home', ['r1']),
      closed: true,
      source: { path: '/w/.reeve/policy.json', hash: 'h' },
    }
    const subjects = ['workspace:/w', 'session:s2', 'process:p_1', 'home', 'session:s1']
    for (const subject of subjects)
      await changeRules(bench.store, subject, () => (subject === 'home' ? home : ruleSet(subject)))
    assert.deepEqual(await bench.store.ask({ ask: 'ruleSet', subject: 'home' }), home)
    assert.deepEqual(await rulesInPlan(bench.store, 'home'), home)
    assert.equal(await rulesInPlan(bench.store, 'session:none'), null)
    assert.equal(await bench.store.ask({ ask: 'ruleSet', subject: 'session:none' }), null)
    const page = async (after: string | null) =>
      (await bench.store.ask({ ask: 'ruleSets', after, limit: 3 })).map(({ subject }) => subject)
    assert.deepEqual(await page(null), ['home', 'process:p_1', 'session:s1'])
    assert.deepEqual(await page('session:s1'), ['session:s2', 'workspace:/w'])
  })

  behaves(
    'a plan sees the rule sets that earlier plans of the same turn wrote and removed',
    async (bench) => {
      const seen = await Promise.all([
        rulesInPlan(bench.store, 'session:s1'),
        changeRules(bench.store, 'session:s1', addRule('r1')),
        rulesInPlan(bench.store, 'session:s1'),
        changeRules(bench.store, 'session:s1', addRule('r2')),
        rulesInPlan(bench.store, 'session:s1'),
        changeRules(bench.store, 'session:s1', () => null),
        rulesInPlan(bench.store, 'session:s1'),
        changeRules(bench.store, 'session:s1', addRule('r3')),
      ])
      assert.deepEqual(
        [seen[0], seen[2], seen[4], seen[6]],
        [null, ruleSet('session:s1', ['r1']), ruleSet('session:s1', ['r1', 'r2']), null],
      )
      assert.deepEqual(await rulesInPlan(bench.store, 'session:s1'), ruleSet('session:s1', ['r3']))
    },
  )

  behaves(
    'the next plan on another connection sees a changed rule set, also if it knew that there was none',
    async (bench) => {
      const other = await bench.open()
      assert.equal(await rulesInPlan(other, 'session:s1'), null)
      await changeRules(bench.store, 'session:s1', addRule('r1'))
      assert.deepEqual(await rulesInPlan(other, 'session:s1'), ruleSet('session:s1', ['r1']))
      assert.equal(await rulesInPlan(other, 'session:s2'), null)
      await changeRules(bench.store, 'session:s2', () => ruleSet('session:s2', ['r2']))
      await changeRules(other, 'session:s1', addRule('r3'))
      assert.deepEqual(await rulesInPlan(other, 'session:s2'), ruleSet('session:s2', ['r2']))
      assert.deepEqual(await rulesInPlan(bench.store, 'session:s1'), ruleSet('session:s1', ['r1', 'r3']))
      await changeRules(bench.store, 'session:s1', () => null)
      assert.equal(await rulesInPlan(other, 'session:s1'), null)
      assert.deepEqual(await rulesInPlan(other, 'session:s2'), ruleSet('session:s2', ['r2']))
    },
  )

  behaves('rules that several connections add to one set at once are all in it', async (bench) => {
    const stores = [bench.store, await bench.open(), await bench.open()]
    await Promise.all(
      times(45).map((index) => changeRules(storeAt(stores, index), 'session:s1', addRule(`r${index}`))),
    )
    const rules = (await bench.store.ask({ ask: 'ruleSet', subject: 'session:s1' }))?.rules ?? []
    assert.deepEqual(
      rules.map(({ id }) => id).sort(),
      times(45)
        .map((index) => `r${index}`)
        .sort(),
    )
  })

  behaves(
    'every commit was decided on the rule sets that were in force when it was committed',
    async (bench) => {
      const [pid, second] = [pidOf('a'), pidOf('b')]
      for (const each of [pid, second]) await bench.register(OUTSIDE, { pid: each })
      const stores = [bench.store, await bench.open(), await bench.open()]
      const changing = (async () => {
        for (const index of times(20))
          await changeRules(bench.store, 'session:s1', addRule(`r${index}`), (next) => [
            {
              type: 'audit',
              entry: auditEntry({ decision: 'granted', inputs: { rules: next?.rules.length ?? 0 } }),
            },
          ])
      })()
      const acting = stores.flatMap((store, index) =>
        [pid, second].map(async (actor) => {
          for (const _ of times(20)) await store.write(actUnderRules(actor, 'session:s1', index))
        }),
      )
      await Promise.all([changing, ...acting])
      let inForce = 0
      let acted = 0
      // The chain has the order of the commits.
      for (const { decision, inputs } of await auditedEntries(bench.store)) {
        if (decision === 'granted') inForce = Number(inputs['rules'])
        else acted += 1
        if (decision === 'allowed') assert.equal(inputs['saw'], inForce)
      }
      assert.deepEqual([inForce, acted], [20, 120])
    },
  )

  behaves('a plan that refuses has read rules that were in force, and may note it', async (bench) => {
    const other = await bench.open()
    await changeRules(bench.store, 'session:s1', addRule('deny'))
    const refuse: Plan<'refused' | 'allowed'> = function* () {
      const rules = yield* know({ ask: 'ruleSet', subject: 'session:s1' })
      const isDenied = (rules?.rules.length ?? 0) > 0
      return {
        answer: isDenied ? 'refused' : 'allowed',
        changes: isDenied ? [{ type: 'audit', entry: auditEntry() }] : [],
      }
    }
    assert.equal(await other.write(refuse), 'refused')
    await changeRules(bench.store, 'session:s1', () => null)
    assert.equal(await other.write(refuse), 'allowed')
    assert.equal((await auditedEntries(bench.store)).length, 1)
  })

  behaves('a session with rules may not delete itself, and so open itself without them', async (bench) => {
    await openSession(bench.edges, 'session:s1', 's1', null)
    await changeRules(bench.store, 'session:s1', addRule('r1'))
    await assert.rejects(markDeleted(bench.edges, 'session:s1', 's1'), { code: 'denied' })
    assert.equal((await bench.store.ask({ ask: 'session', id: 's1' }))?.endedAt, null)
    await markDeleted(bench.edges, 'host', 's1')
    const withPreset = { ...bench.edges, sessionPreset: 'observe' } as const
    await openSession(withPreset, 'session:s2', 's2', null)
    await markDeleted(withPreset, 'session:s2', 's2')
  })

  behaves(
    'a session below another may not delete itself, and so escape the rules above it',
    async (bench) => {
      await openSession(bench.edges, 'host', 'top', null)
      await openSession(bench.edges, 'host', 'mid', null, undefined, undefined, 'top')
      await changeRules(bench.store, 'session:top', addRule('r1'))
      await assert.rejects(markDeleted(bench.edges, 'session:mid', 'mid'), { code: 'denied' })
      await assert.rejects(markDeleted(bench.edges, 'session:top', 'mid'), { code: 'denied' })
      assert.equal((await bench.store.ask({ ask: 'session', id: 'mid' }))?.endedAt, null)
      await markDeleted(bench.edges, 'host', 'mid')
    },
  )

  behaves('a session may not delete itself with the sessions below it and their rules', async (bench) => {
    await openSession(bench.edges, 'host', 'top', null)
    await openSession(bench.edges, 'host', 'mid', null, undefined, undefined, 'top')
    await changeRules(bench.store, 'session:mid', addRule('r1'))
    await assert.rejects(markDeleted(bench.edges, 'session:top', 'top'), { code: 'denied' })
    assert.equal((await bench.store.ask({ ask: 'session', id: 'top' }))?.endedAt, null)
    await markDeleted(bench.edges, 'host', 'top')
  })

  behaves('a session with a workspace or a closed set may not delete itself', async (bench) => {
    await openSession(bench.edges, 'host', 'placed', null, undefined, '/repo')
    await assert.rejects(markDeleted(bench.edges, 'session:placed', 'placed'), { code: 'denied' })
    await openSession(bench.edges, 'host', 'closed', null)
    await changeRules(bench.store, 'session:closed', (set) => ({
      ...(set ?? ruleSet('session:closed')),
      rules: [],
      closed: true,
    }))
    await assert.rejects(markDeleted(bench.edges, 'session:closed', 'closed'), { code: 'denied' })
  })

  behaves('a deleted session and a pruned process take their rule sets with them', async (bench) => {
    const other = await bench.open()
    await openSession(bench.edges, 'host', 's1', null)
    for (const text of ['a', 'b']) {
      await bench.register(OUTSIDE, { pid: pidOf(text) })
      await bench.performed('appended', { type: 'request_abandon', pid: pidOf(text), reason: 'gone' })
    }
    const ofProcess = (text: string) => [`process:${pidOf(text)}`, `tool:${pidOf(text)}`]
    const subjects = ['session:s1', 'session:s2', ...ofProcess('a'), ...ofProcess('b')]
    for (const subject of subjects) {
      await changeRules(bench.store, subject, () => ruleSet(subject, ['r1']))
      // A set of tools has no rules, and so no uses.
      if (subject.startsWith('tool:')) continue
      const use = { id: `${subject} r1`, subject, used: 1 }
      await put(bench.store, { type: 'rule_use', was: null, use })
    }
    const left = async (store: Store) => {
      const found: string[] = []
      for (const subject of subjects) if ((await rulesInPlan(store, subject)) !== null) found.push(subject)
      return found
    }
    const uses = async () => {
      const found = await Promise.all(
        subjects.map((subject) => bench.store.ask({ ask: 'ruleUse', id: `${subject} r1` })),
      )
      return found.flatMap((use) => (use === null ? [] : [use.subject]))
    }
    assert.deepEqual(await left(other), subjects)
    await put(bench.store, { type: 'session_gone', id: 's1' })
    assert.deepEqual(await left(other), subjects.slice(1))
    assert.deepEqual(await left(bench.store), subjects.slice(1))
    await prune(bench.edges, { pids: [pidOf('a')] })
    assert.deepEqual(await left(other), ['session:s2', ...ofProcess('b')])
    assert.deepEqual(await left(bench.store), ['session:s2', ...ofProcess('b')])
    assert.deepEqual(await uses(), ['session:s2', `process:${pidOf('b')}`])
    await changeRules(other, 'session:s2', () => null)
    assert.deepEqual(await uses(), [`process:${pidOf('b')}`])
  })

  behaves('a rule is used no more often than its limit, also through several connections', async (bench) => {
    const stores = [bench.store, await bench.open(), await bench.open()]
    const id = 'session:s1 r1'
    const useOnce: Plan<boolean> = function* () {
      const was = yield* know({ ask: 'ruleUse', id })
      const used = (was?.used ?? 0) + 1
      if (used > 10) return { answer: false, changes: [] }
      return {
        answer: true,
        changes: [{ type: 'rule_use', was, use: { id, subject: 'session:s1', used } }],
      }
    }
    const answers = await Promise.all(times(60).map((index) => storeAt(stores, index).write(useOnce)))
    assert.equal(answers.filter(Boolean).length, 10)
    assert.deepEqual(await bench.store.ask({ ask: 'ruleUse', id }), { id, subject: 'session:s1', used: 10 })
    await put(bench.store, { type: 'rule_use_gone', id })
    assert.equal(await bench.store.ask({ ask: 'ruleUse', id }), null)
    assert.equal(await stores[1]?.write(useOnce), true)
  })

  behaves(
    'a removed rule set takes the uses of its rules with it, also those of the same turn',
    async (bench) => {
      const stores = [bench.store, await bench.open()]
      const id = 'session:s1 r1'
      const use: Plan<number | null> = function* () {
        const rules = yield* know({ ask: 'ruleSet', subject: 'session:s1' })
        const was = yield* know({ ask: 'ruleUse', id })
        if (rules === null && was === null) return { answer: null, changes: [] }
        // With a change the facts are compared at the commit: only then is it certain that both were so at once.
        if (rules === null && was !== null)
          return { answer: -1, changes: [{ type: 'rule_use', was, use: was }] }
        const used = (was?.used ?? 0) + 1
        return {
          answer: used,
          changes: [{ type: 'rule_use', was, use: { id, subject: 'session:s1', used } }],
        }
      }
      const { store } = bench
      const add = () => changeRules(store, 'session:s1', addRule('r1'))
      const remove = () => changeRules(store, 'session:s1', () => null)
      const answers = await Promise.all([
        store.write(use),
        add(),
        store.write(use),
        store.write(use),
        remove(),
        store.write(use),
        add(),
        store.write(use),
      ])
      assert.deepEqual([answers[0], answers[2], answers[3], answers[5], answers[7]], [null, 1, 2, null, 1])
      const [, other] = stores
      assert.ok(other)
      const toggling = (async () => {
        for (const round of times(20)) await (round % 2 === 0 ? remove() : add())
      })()
      const using = times(40).map(async () => other.write(use))
      assert.equal((await Promise.all(using)).includes(-1), false)
      await toggling
      await remove()
      assert.equal(await store.ask({ ask: 'ruleUse', id }), null)
    },
  )
}

function storeAt(stores: readonly Store[], index: number): Store {
  const store = stores[index % stores.length]
  assert.ok(store)
  return store
}
