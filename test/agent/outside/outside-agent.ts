import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InputOf, OutputOf, ReeveVerbs } from 'reeve'
import { expect } from 'vitest'
import { tempFolder } from '../../temp-folder.ts'

const PROGRAM = join(import.meta.dirname, '../../fixtures/acp-agent.ts')

type Spec = Extract<InputOf<'spawn'>, { kind: 'agent' }>['spec']
type Item = OutputOf<'agentLog'>['items'][number]

/** An outside agent whose program is the scripted one. */
export class OutsideAgent {
  readonly folder: string
  readonly program: NonNullable<Spec['program']>

  constructor({
    options = [],
    folder = tempFolder(),
  }: { options?: readonly string[]; folder?: string } = {}) {
    this.folder = folder
    this.program = { argv: [process.execPath, PROGRAM, folder, ...options] }
  }

  async start(
    reeve: ReeveVerbs,
    steps: readonly string[],
    spec: Partial<Spec> = {},
    more: Pick<InputOf<'spawn'>, 'allowance'> = {},
  ): Promise<string> {
    const { record } = await reeve.spawn({
      ...more,
      kind: 'agent',
      cwd: this.folder,
      spec: {
        agent: 'scripted',
        model: 'acp/scripted',
        program: this.program,
        goal: steps.join('\n'),
        ...spec,
      },
    })
    return record.pid
  }

  /** A step that waits for this file goes on. */
  present(file: string): void {
    writeFileSync(join(this.folder, file), '')
  }

  /** What its programs have heard and done so far. */
  heard(what = ''): string[] {
    const file = join(this.folder, 'heard')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
    return lines.filter((line) => line.startsWith(what))
  }
}

/** Waits until the agent is idle, and returns its last turn. */
export async function lastTurn(reeve: ReeveVerbs, pid: string) {
  for (;;) {
    const waited = await reeve.waitAgent({ pid, timeoutMs: 60_000 })
    if (waited.type === 'interrupted' || waited.type === 'timed_out') continue
    return waited.turn
  }
}

/** The entries of its session, in short. */
export async function entries(reeve: ReeveVerbs, pid: string): Promise<string[]> {
  const { items } = await reeve.agentLog({ pid, last: 1_000 })
  return items.flatMap(shortly)
}

function shortly(item: Item): string[] {
  const text = (parts: readonly { readonly [name: string]: unknown }[]) =>
    parts.map((part) => String(part['text'] ?? Object(part['input'])['title'])).join()
  switch (item.type) {
    case 'input_promoted':
      return [`input ${item.payload.input}`]
    case 'assistant_item':
      return item.payload.parts.map((part) => `${part.type} ${String(part['text'])}`)
    case 'tool_called':
      return [`${item.payload.tool} ${text(item.payload.parts)}`]
    case 'tool_answered':
      return [`${item.payload.isError ? 'error' : 'result'} ${text(item.payload.parts)}`]
    case 'agent_failed':
      return [`! ${item.payload.code}`]
    case 'model_call_cut':
      return [`cut ${item.payload.why}`]
    case 'turn_ended':
      return [`turn ${item.payload.turn} ${item.payload.reason}`]
    default:
      return []
  }
}

/** The id of the one approval that is pending. */
export async function pendingApproval(reeve: ReeveVerbs): Promise<string> {
  const pending = async () => (await reeve.approvals({ state: 'pending' })).approvals.map(({ id }) => id)
  await expect.poll(pending, { timeout: 60_000 }).toHaveLength(1)
  const [id = ''] = await pending()
  return id
}

/** Waits until the turn of the agent has output: before that a cancel takes the turn back. */
export async function hasOutput(reeve: ReeveVerbs, pid: string): Promise<void> {
  const shown = async () => (await reeve.show({ pid })).agent?.turn?.hasOutput
  await expect.poll(shown, { timeout: 60_000 }).toBe(true)
}
