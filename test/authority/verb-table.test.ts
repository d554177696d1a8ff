import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ToolHandler, WorkflowFunction } from 'reeve'
import { expect, test } from 'vitest'
import { verbs } from '../../src/verbs/reeve.ts'
import { act } from '../../src/verbs/shapes/worker.ts'
import { embedTemp } from '../embed-temp.ts'
import { attempts, GUARDED, VERB_TABLE } from './verb-table.ts'

test('every verb that changes something says in the table what it does to authority, and its definition agrees', () => {
  const writing = Object.entries(verbs).filter(
    ([, { needs, route }]) => needs !== 'read' && !route.startsWith('GET '),
  )
  expect(Object.keys(VERB_TABLE).sort()).toEqual(writing.map(([name]) => name).sort())
  const expected = { answers: 'required', rules: 'if_known', narrows: 'if_known', none: undefined }
  for (const [name, verb] of writing) {
    const does = VERB_TABLE[name as keyof typeof VERB_TABLE] ?? 'none'
    const { asPerson } = { asPerson: undefined, ...verb }
    expect([name, asPerson]).toEqual([name, expected[does]])
    if (does === 'rules') expect([name, verb.needs]).toEqual([name, 'admin'])
  }
})

test('the door table has an attempt with every verb that answers or changes rules', () => {
  expect(Object.keys(attempts({ permission: '', question: '' })).sort()).toEqual(GUARDED.toSorted())
})

/** The files that call such a verb by its name. Each is a door: `doors.proc.ts` tries them, and `acp-door.proc.ts` that of editors. */
const DOORS: readonly string[] = [
  // The person at the editor, only where its environment or the home says that an approver sits there.
  'acp/open-sessions.ts',
  'acp/permission-forms.ts',
  // The verbs themselves.
  'actions/agent-files.ts',
  'actions/approvals.ts',
  'actions/policies.ts',
  'actions/policy-files.ts',
  'actions/questions.ts',
  // The prompt of a session, over the connection of every other subcommand.
  'cli/agent/answer-here.ts',
  'cli/policy/files.ts',
  'cli/subcommands/approve.ts',
  // Calls any verb, over the connection of every other subcommand.
  'cli/subcommands/call.ts',
  'cli/subcommands/deny.ts',
  'cli/subcommands/policy.ts',
  'cli/subcommands/reply.ts',
  'cli/trust/agent-files.ts',
  'mcp/approvals/operator-tools.ts',
  // Elicitation: the person at the client of an agent, only where its token or the home says that one sits there.
  'mcp/approvals/person-here.ts',
  'server/verb-routes.ts',
]

/** Files that use such a name for something else. */
const NO_DOORS: readonly string[] = [
  'actions/signal.ts',
  // Replies to JSON-RPC requests.
  'agent/mcp/connection.ts',
  'agent/mcp/kept-channel.ts',
  'cli/edited-spec.ts',
  'cli/subcommand-table.ts',
  'cli/subcommands/message.ts',
  'mcp/approvals/elicitation.ts',
  'server/openapi/document.ts',
]

test('no other file calls such a verb: a new door has to be in the table', () => {
  const names = `(${GUARDED.join('|')})`
  // Called, taken out of an object, passed on, or called by a name that is computed.
  const calls = new RegExp(
    [
      `\\.${names}\\b(?!')`,
      `\\[['"\`]${names}['"\`]\\]`,
      `\\{[^{}]*\\b${names}\\b[^{}]*\\} = `,
      `approvals\\.answer\\(`,
      `\\b(reeve|acting|answering|verbs)\\[(?!')`,
      `\\w\\[\\w+\\]\\(`,
      // The functions of the kernel behind the verbs.
      `kernel/(answer-approval|policies|policy-files)\\.ts'`,
    ].join('|'),
  )
  const src = join(import.meta.dirname, '../../src')
  const found = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file.endsWith('.ts') &&
      // `PlannedAudit.deny` of the kernel is another method. What is pure calls nothing outside.
      !/^(verbs|testing|kernel|core|base)\//.test(file) &&
      calls.test(readFileSync(join(src, file), 'utf8')),
  )
  expect(found.sort()).toEqual([...DOORS, ...NO_DOORS].toSorted())
})

test('neither a tool nor a workflow nor a worker has an act that answers or changes rules', async () => {
  const known: string[] = []
  const membersOf = (context: object) => {
    for (let one = context; one !== Object.prototype; one = Object.getPrototypeOf(one) as object)
      known.push(...Reflect.ownKeys(one).map(String))
  }
  const look: ToolHandler = (context) => {
    membersOf(context)
    return null
  }
  const order: WorkflowFunction = (context) => {
    membersOf(context)
  }
  const reeve = await embedTemp({ tools: { look }, workflows: { order } })
  for (const request of [
    { kind: 'tool', spec: { tool: 'look' } },
    { kind: 'workflow', spec: { workflow: 'order' } },
  ] as const)
    await reeve.wait({ pid: (await reeve.spawn(request)).record.pid })
  const acts = act.options.map(({ shape }) => shape.type.value)
  expect(known).toContain('spawn')
  expect(known).toContain('step')
  expect(acts).toContain('spawn')
  for (const name of GUARDED) expect([...known, ...acts], name).not.toContain(name)
})
