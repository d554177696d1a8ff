import assert from 'node:assert/strict'
import type { Answer } from '../../core/approval/decide-answer.ts'
import type { Rule } from '../../core/capability/rule.ts'
import { answerApproval } from '../../kernel/answer-approval.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import type { Edges } from '../../kernel/edges.ts'
import { openSession } from '../../kernel/sessions.ts'
import { changeRules, ruleSet } from './authority-rows.ts'
import { type Behaves, type Bench, repeat } from './bench.ts'

const ASKED: Rule = { id: 'r1', effect: 'ask', rights: ['execute'], resource: 'tool:deploy' }
const ROUNDS = 50

/** Two people answer one approval at the same time, each over a connection of its own. */
export function approvers(behaves: Behaves): void {
  const prepare = async (bench: Bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    await changeRules(bench.store, 'session:s1', () => ({ ...ruleSet('session:s1'), rules: [ASKED] }))
    return [bench.edgesOver(await bench.open()), bench.edgesOver(await bench.open())] as const
  }

  behaves(`two approvers at once, ${ROUNDS} times: one wins, and the other is told which`, async (bench) => {
    const [ada, bob] = await prepare(bench)
    await repeat(ROUNDS, (round) => raceApprovers(bench, ada, bob, round))
    const { items } = await bench.store.ask({ ask: 'audit', after: null, limit: 1_000 })
    // One entry that asks and one that answers: the loser of a race leaves none.
    assert.equal(items.length, 2 * ROUNDS)
  })
}

/** One race: both answer, one of the answers counts, and the process is begun at most once. */
async function raceApprovers(bench: Bench, ada: Edges, bob: Edges, round: number): Promise<void> {
  const { record } = await bench.register({ kind: 'tool', spec: { tool: 'deploy' } }, { actor: 'session:s1' })
  const id = record.gate?.approval ?? ''
  // Every pair of answers: both yes, both no, and one of each.
  const given = (bit: number): Answer =>
    (round & bit) === 0 ? { type: 'approve', grant: 'once' } : { type: 'deny', advice: `round ${round}` }
  const answers = await Promise.all([
    answerApproval(ada, 'k1', { id, by: 'human:ada', answer: given(1) }),
    answerApproval(bob, 'k2', { id, by: 'human:bob', answer: given(2) }),
  ])
  const stored = await bench.store.ask({ ask: 'approval', id })
  assert.equal(stored?.state, 'answered', `round ${round}`)
  for (const one of answers) {
    assert.ok(one.type !== 'refused', `round ${round}`)
    assert.deepEqual(one.approval, stored, `round ${round}: both are told the answer that counts`)
  }
  assert.deepEqual(answers.map(({ type }) => type).sort(), ['settled', 'settled_before'], `round ${round}`)
  const winner = answers[0].type === 'settled' ? 'human:ada' : 'human:bob'
  assert.equal(stored.answer?.by, winner, `round ${round}`)
  const begun = await Promise.all([
    claimAndStart(ada, [record.pid], 'k1'),
    claimAndStart(bob, [record.pid], 'k2'),
  ])
  assert.equal(begun.flat().length, stored.answer.type === 'approved' ? 1 : 0, `round ${round}`)
}
