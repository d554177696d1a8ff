import { resolve } from 'node:path'
import type { InputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import type { OptionSpecs, Options } from '../options.ts'
import { UsageError } from '../usage-error.ts'

/** The options that name a subject. */
export const SUBJECT_OPTIONS = {
  session: { type: 'text', value: 'id', about: 'for this session alone' },
  process: { type: 'text', value: 'process', about: 'for this process and everything below it' },
  workspace: { type: 'text', value: 'folder', about: 'for sessions and commands in this folder' },
} as const satisfies OptionSpecs

export type SubjectOptions = Options<typeof SUBJECT_OPTIONS>

export type RuleSubject = NonNullable<InputOf<'addRule'>['to']>
type Holder = InputOf<'delegateRule'>['to']

/** The subject that the options name; the home if they name none. */
export async function subjectOf(context: Context<SubjectOptions>): Promise<RuleSubject> {
  const { workspace } = context.options
  const holder = await holderOf(context)
  if (workspace === undefined) return holder ?? { type: 'home' }
  if (holder !== undefined) throw severalSubjects()
  return { type: 'workspace', folder: resolve(context.around.cwd, workspace) }
}

/** The session or process that the options name. */
export async function holderOf(context: Context<SubjectOptions>): Promise<Holder | undefined> {
  const { session, process } = context.options
  if (session !== undefined && process !== undefined) throw severalSubjects()
  if (session !== undefined) return { type: 'session', session }
  return process === undefined ? undefined : { type: 'process', pid: await pidOf(context, process) }
}

/** `session:<id>` or `process:<pid>`. */
export async function receiverOf(
  context: Context<SubjectOptions>,
  text: string | undefined,
): Promise<Holder> {
  const [, type, id] = /^(session|process):(.+)$/.exec(text ?? '') ?? []
  if (id === undefined)
    throw new UsageError('--to names a session or a process.', 'For example: --to process:p_7k3m9q2x4t8v')
  return type === 'session'
    ? { type: 'session', session: id }
    : { type: 'process', pid: await pidOf(context, id) }
}

/** As lists of rules name it. */
export function subjectText(subject: Exclude<RuleSubject, { type: 'workspace' }>): string {
  switch (subject.type) {
    case 'home':
      return 'home'
    case 'session':
      return `session:${subject.session}`
    case 'process':
      return `process:${subject.pid}`
  }
}

async function pidOf(context: Context<SubjectOptions>, text: string): Promise<string> {
  const reeve = await context.acting()
  return (await reeve.show({ pid: text })).pid
}

function severalSubjects(): UsageError {
  return new UsageError('Give one of --session, --process and --workspace.', 'Leave the others out.')
}
