import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as acp from '@agentclientprotocol/sdk'
import { connect, type Reeve } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { choosing, Editor, scriptedProject } from '../acp/editor.ts'
import { TempReeve } from '../temp-reeve.ts'
import { authorityIn, onlyPending } from './ruled-reeve.ts'
import { attempts, GUARDED } from './verb-table.ts'

/** The door of editors, `reeve acp`: the client of an agent answers nothing and changes no rule, except as the person who sits there. */

const TOUCH = { tool: 'run_command', input: { command: 'touch made' } }

/** An editor whose agent waits for a permission. */
async function asking(starting: {
  readonly approver: boolean
  /** The editor is started below this process of Reeve. */
  readonly inside?: boolean
  readonly chosen: string
}) {
  const { approver, inside = false, chosen } = starting
  const temp = new TempReeve()
  const daemon = await temp.up({ flags: { approver } })
  const person: Reeve = await connect({ home: temp.folder })
  onTestFinished(() => person.close())
  await person.addRule({ rule: { id: 'asked', effect: 'ask', resource: 'shell:**' } })
  await person.openSession({ session: 's1' })
  const { record } = await daemon.reeve
    .as('session:s1')
    .spawn({ kind: 'external', spec: { description: 'x' } })
  const cwd = scriptedProject({ answers: [{ parts: [TOUCH] }, { parts: [{ text: 'Done.' }] }] })
  const editor = await Editor.start(temp, {
    cwd,
    env: inside ? { REEVE_PROCESS: record.pid } : {},
    person: choosing(chosen),
    capabilities: { session: { notices: {} } },
  })
  const { sessionId, modes } = await editor.newSession(cwd)
  const answered = editor.prompt(sessionId, 'go')
  answered.catch(() => undefined)
  const isAsked = async () => (await person.approvals()).approvals.length
  await expect.poll(isAsked, { timeout: 60_000 }).toBe(1)
  return { daemon, person, editor, sessionId, modes, answered, made: join(cwd, 'made') }
}

/** Everything that a client can send in order to answer, or to change rules. */
async function tryAll({ person, editor, sessionId }: Awaited<ReturnType<typeof asking>>): Promise<void> {
  const { id } = await onlyPending(person)
  const { session } = acp.methods.agent
  const inputs = attempts({ permission: id, question: id })
  for (const verb of GUARDED) {
    const input = { sessionId, ...inputs[verb as keyof typeof inputs] }
    for (const method of [verb, `_${verb}`, `_reeve/${verb}`, `session/${verb}`])
      await expect(editor.request(method, input), method).rejects.toMatchObject({ code: -32601 })
  }
  // What it asks its client is no method of the agent.
  const chosen = { sessionId, outcome: { outcome: 'selected', optionId: 'once' } }
  await expect(editor.request('session/request_permission', chosen)).rejects.toMatchObject({ code: -32601 })
  for (const modeId of ['full', 'edit', 'home'])
    await expect(editor.request(session.setMode, { sessionId, modeId }), modeId).rejects.toThrow()
  const option = { sessionId, configId: 'mode', value: 'full' }
  await expect(editor.request(session.setConfigOption, option)).rejects.toThrow()
}

test.for([
  { approver: false, inside: false },
  { approver: true, inside: true },
])(
  'an editor answers nothing and changes no rule where no person sits at it: %o',
  async ({ approver, inside }) => {
    const asked = await asking({ approver, inside, chosen: 'once' })
    const { daemon, person, editor, modes, made } = asked
    expect(modes).toBeUndefined()
    const { id } = await onlyPending(person)
    await editor.until(({ sessionUpdate }) => sessionUpdate === 'notice')
    const before = await authorityIn(daemon.reeve)
    await tryAll(asked)
    expect(editor.asked).toEqual([])
    const after = await authorityIn(daemon.reeve)
    expect({ ...after, ...ignored }).toEqual({ ...before, ...ignored })
    expect(existsSync(made)).toBe(false)
    await person.approve({ id })
    expect(await asked.answered).toEqual({ stopReason: 'end_turn' })
    expect(existsSync(made)).toBe(true)
  },
)

test.for(['always', 'process', 'approve'])(
  'an editor at which a person sits gives no answer that was not offered: %s',
  async (chosen) => {
    const { daemon, person, editor, answered, made } = await asking({ approver: true, chosen })
    // It says so, and the request stays.
    await editor.until((update) => update.sessionUpdate === 'notice' && update.title.includes('not offered'))
    const { id, request } = await onlyPending(person)
    expect(editor.asked.flatMap(({ options }) => options.map(({ optionId }) => optionId))).not.toContain(
      chosen,
    )
    expect(request.type).toBe('permission')
    expect((await daemon.reeve.policies()).rules.map(({ rule }) => rule['id'])).toEqual(['asked'])
    expect(existsSync(made)).toBe(false)
    await person.deny({ id })
    expect(await answered).toEqual({ stopReason: 'end_turn' })
    expect(existsSync(made)).toBe(false)
  },
)

/** The agent goes on with its own records meanwhile. */
const ignored = { position: null, revisions: null }
