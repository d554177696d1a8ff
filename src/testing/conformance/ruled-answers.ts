import assert from 'node:assert/strict'
import type { Approval, PermissionRequest } from '../../core/approval/approval.ts'
import type { Answer } from '../../core/approval/decide-answer.ts'
import { UNANALYSED } from '../../core/capability/action.ts'
import type { Rule } from '../../core/capability/rule.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Actor } from '../../core/process/record.ts'
import { answerApproval, answerByRule } from '../../kernel/answer-approval.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { openSession } from '../../kernel/sessions.ts'
import { Workspaces } from '../../kernel/workspaces.ts'
import { changeRules, put, ruleSet } from './authority-rows.ts'
import type { Behaves, Bench } from './bench.ts'

const YES: Answer = { type: 'approve', grant: 'once' }

type Permission = Approval & { readonly request: PermissionRequest & Approval['request'] }

/** A yes is ruled on with the rules of its time, not with those of the request. */
export function ruledAnswers(behaves: Behaves): void {
  const actor: Actor = 'session:s1'
  const ask: Rule = { id: 'r1', effect: 'ask', rights: ['execute'], resource: 'tool:deploy' }
  const deny: Rule = { ...ask, id: 'r2', effect: 'deny' }
  const setRules = (bench: Bench, subject: string, ...rules: readonly Rule[]) =>
    changeRules(bench.store, subject, (was) => ({ ...(was ?? ruleSet(subject)), rules }))
  const setUp = async (bench: Bench, subject = 'home', ...rules: readonly Rule[]) => {
    for (const session of ['s1', 's2']) await openSession(bench.edges, 'host', session, null)
    await setRules(bench, subject, ...(rules.length === 0 ? [ask] : rules))
  }
  const requestOf = async (bench: Bench, by: Actor = actor, input = 'a'): Promise<Permission> => {
    const request = { kind: 'tool', spec: { tool: 'deploy', input } } as const
    const { gate } = (await bench.register(request, { actor: by })).record
    const approval = await bench.store.ask({ ask: 'approval', id: gate?.approval ?? '' })
    assert.ok(approval?.request.type === 'permission')
    return { ...approval, request: approval.request }
  }
  const answer = (bench: Bench, id: string, given: Answer = YES) =>
    answerApproval(bench.edges, 'k1', { id, by: 'human:ada', answer: given })
  const edit = (bench: Bench, id: string, spec: JsonObject) =>
    answerApproval(bench.edges, 'k1', { id, by: 'human:ada', answer: YES, edit: { spec, resolved: null } })
  const isWaiting = async (bench: Bench, { pid }: Permission) => {
    assert.deepEqual(await claimAndStart(bench.edges, [pid], 'k1'), [])
    return (await bench.row(pid)).record.gate?.state === 'pending'
  }
  const used = async (bench: Bench, rule: string) =>
    (await bench.store.ask({ ask: 'ruleUse', id: `session:s1 ${rule}` }))?.used ?? 0

  behaves('a deny that was added since is not overruled by an answer for every time', async (bench) => {
    await setUp(bench)
    const [first, other] = [await requestOf(bench), await requestOf(bench, 'session:s2')]
    await setRules(bench, 'session:s2', deny)
    const { alwaysRule } = first.request
    assert.ok(alwaysRule)
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    const settled = await kernel.approvals.answer({
      id: first.id,
      by: 'human:ada',
      answer: { type: 'approve', grant: 'always', rule: alwaysRule },
    })
    assert.equal(settled.type, 'settled')
    await kernel.sweep()
    await kernel.approvals.coveredSettled()
    assert.equal(await answerByRule(bench.edges, 'k1', other.id), undefined)
    assert.ok(await isWaiting(bench, other))
    await setRules(bench, 'session:s2', { ...ask, id: 'r3' })
    assert.equal(await answerByRule(bench.edges, 'k1', other.id), undefined)
    assert.ok(await isWaiting(bench, other))
    await setRules(bench, 'session:s2')
    assert.equal((await answerByRule(bench.edges, 'k1', other.id))?.type, 'settled')
  })

  behaves(
    'a yes to what a rule denies by now is refused with the rule, and starts nothing',
    async (bench) => {
      await setUp(bench)
      const request = await requestOf(bench)
      await setRules(bench, 'session:s1', deny)
      const refused = await answer(bench, request.id)
      assert.ok(refused.type === 'refused')
      assert.equal(refused.refusal.code, 'denied')
      assert.match(JSON.stringify(refused.refusal.details), /deny +execute tool:deploy/)
      assert.ok(await isWaiting(bench, request))
      assert.equal((await answer(bench, request.id, { type: 'deny' })).type, 'settled')
    },
  )

  behaves(
    'the last use that a request has reserved is there for its answer and for its edit',
    async (bench) => {
      await setUp(bench, actor, ask, { ...ask, id: 'few', effect: 'allow', uses: 2 })
      const [plain, edited] = [await requestOf(bench), await requestOf(bench)]
      assert.equal((await answer(bench, plain.id)).type, 'settled')
      assert.equal((await edit(bench, edited.id, { tool: 'deploy', input: 'dry' })).type, 'settled')
      assert.equal(await used(bench, 'few'), 2)
    },
  )

  behaves(
    'a client of a session does not answer for a person what a session below it asks',
    async (bench) => {
      await setUp(bench)
      await openSession(bench.edges, 'host', 'below', null, undefined, undefined, 's1')
      const { id } = await requestOf(bench, 'session:below')
      const through = (session: string) =>
        answerApproval(bench.edges, 'k1', {
          id,
          by: 'human:ada',
          answer: YES,
          through: { sessions: [session], elicited: false },
        })
      const refused = await through('s1')
      assert.equal(refused.type === 'refused' && refused.refusal.code, 'denied')
      assert.equal((await through('s2')).type, 'settled')
    },
  )

  behaves('a command is edited only by the host that can resolve it', async (bench) => {
    await setUp(bench, 'home', { ...ask, resource: 'tool:*' }, { ...ask, id: 'r4', resource: 'session:*' })
    const request = await requestOf(bench)
    assert.equal((await edit(bench, request.id, { tool: 'deploy', input: 'b' })).type, 'settled')
    await changeRules(bench.store, 'home', () => null)
    const { pid } = (await bench.register({ kind: 'command', spec: { run: 'true' } })).record
    const asked = { ...request, id: 'a_command', pid }
    await put(bench.store, { type: 'approval', was: null, approval: asked })
    const refused = await edit(bench, asked.id, { run: 'false' })
    assert.equal(refused.type === 'refused' && refused.refusal.code, 'not_available')
  })

  behaves('an answered request names the uses that its edit has', async (bench) => {
    const exact = (id: string, uses: number, input: string): Rule => ({
      ...ask,
      id,
      effect: 'allow',
      uses,
      resource: `tool:${input}`,
    })
    await setUp(bench, actor, ask, exact('few', 3, 'deploy'))
    const request = await requestOf(bench)
    assert.deepEqual(request.request.uses, [{ subject: actor, id: 'few' }])
    await setRules(bench, actor, ask, exact('more', 3, 'deploy'), exact('few', 3, 'other'))
    const settled = await edit(bench, request.id, { tool: 'deploy', input: 'dry' })
    assert.ok(settled.type === 'settled' && settled.approval.request.type === 'permission')
    assert.deepEqual(settled.approval.request.uses, [{ subject: actor, id: 'more' }])
    assert.deepEqual([await used(bench, 'few'), await used(bench, 'more')], [0, 1])
    const stored = await bench.store.ask({ ask: 'approval', id: request.id })
    assert.deepEqual(stored, settled.approval)
  })

  behaves('an edited command is bound by the rules of the folder that it was asked for in', async (bench) => {
    await setUp(bench, 'home', { ...ask, resource: 'shell:*' })
    const look = async (folder: string) => ({ folder: folder === '/link' ? '/w' : folder, files: [] })
    const edges = { ...bench.edges, workspaces: new Workspaces({ look, broken: [] }) }
    const request = { kind: 'command', spec: { run: 'true' }, cwd: '/link' } as const
    const { gate } = (await bench.register(request, { actor }, edges)).record
    await setRules(bench, 'workspace:/w', { ...deny, resource: 'shell:*' })
    const spec = { run: 'true again' }
    const given = { spec, resolved: UNANALYSED }
    const id = gate?.approval ?? ''
    const refused = await answerApproval(edges, 'k1', { id, by: 'human:ada', answer: YES, edit: given })
    assert.ok(refused.type === 'refused')
    assert.equal(refused.refusal.code, 'denied')
  })
}
