import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { OutputOf } from '../../verbs/reeve.ts'
import { commandSpec } from '../../verbs/shapes/command-spec.ts'
import { lifetime } from '../../verbs/shapes/record.ts'
import { registration } from '../../verbs/shapes/registration.ts'
import { listedAs, unlisted } from '../input-schema.ts'
import { maxChars } from '../page.ts'
import type { ProcessView } from '../process-view.ts'
import { startAnswerOrTask, startOrTaskMs } from '../start-answer.ts'
import { tool } from '../tool.ts'

const spec = commandSpec.shape
const asked = registration.options[0].shape

const text = (description: string) => ({ type: 'string', description }) as const
const LINE = { text: text('text in the line'), pattern: text('or an RE2 pattern') }

const input = z
  .strictObject({
    run: spec.run.describe('shell command line: npm test'),
    argv: spec.argv.describe('or program and arguments, without a shell'),
    cwd: asked.cwd.describe('absolute folder; your workspace by default'),
    name: asked.name.describe('short name to use like a pid: web'),
    env: unlisted(spec.env),
    passEnv: unlisted(spec.passEnv),
    pty: spec.pty.describe('a terminal: for REPLs and full-screen programs'),
    stdin: listedAs(spec.stdin, {
      type: 'string',
      enum: ['pipe'],
      description: 'an open input, for process_write',
    }),
    output: z
      .enum(['merged', 'tagged'])
      .exactOptional()
      .describe('tagged: stdout and stderr can be read separately'),
    timeoutMs: spec.timeoutMs.describe('end it if it runs longer'),
    ready: listedAs(spec.ready, {
      type: 'object',
      description: 'what shows that it is ready, one of these',
      properties: {
        log: text('RE2 pattern of a line'),
        port: { type: 'integer', description: 'open TCP port' },
        http: text('URL that answers'),
        command: text('shell line that succeeds'),
      },
    }),
    watch: listedAs(spec.watch, {
      type: 'array',
      description: 'lines that make an inbox notice',
      items: { type: 'object', description: 'one of', properties: LINE },
    }),
    reason: unlisted(asked.reason),
    notify: unlisted(spec.notify),
    restart: listedAs(spec.restart, {
      type: 'object',
      description: 'start it again after it ended by itself',
      properties: { on: { type: 'string', enum: ['failure', 'always'], description: 'when' } },
      required: ['on'],
    }),
    heartbeatMs: unlisted(spec.heartbeatMs),
    lifetime: lifetime
      .extract(['session', 'detached'])
      .default('session')
      .describe('session: ends an hour after you leave; detached: runs until killed'),
    allowance: unlisted(asked.allowance),
    waitMs: startOrTaskMs,
    maxChars: unlisted(maxChars),
    idempotencyKey: unlisted(asked.idempotencyKey),
  })
  .refine(({ run, argv }) => (run === undefined) !== (argv === undefined), 'give either run or argv')

export const processStart = tool({
  name: 'process_start',
  title: 'Start a command',
  description: [
    'Runs a command and answers with its output. A fast one finishes in this call, with its exit code. A slow one (server,',
    'build, tests, watcher, REPL) goes on in the background under a pid, even when you end, and all output is kept: use',
    'process_wait (its end, or a line), process_poll (new output), process_write, process_kill. Do not add & or nohup.',
  ].join(' '),
  searchHint:
    'run command, run tests, long running command, background process, dev server, build, watcher, shell, terminal, REPL',
  alwaysLoad: true,
  input,
  effect: 'change',
  startsDaemon: true,
  async run(
    { waitMs, maxChars: most, name, cwd, lifetime: lives, idempotencyKey, allowance, reason, ...command },
    call,
  ) {
    const folder = cwd ?? call.folder
    const key = idempotencyKey ?? `mcp-${randomUUID()}`
    return call.perform(async (acting, session) => {
      const { type, record, warning } = await acting.spawn({
        kind: 'command',
        spec: command,
        owner: { session },
        ...(call.parent === undefined ? {} : { parent: call.parent }),
        lifetime: lives,
        // Makes the spawn safe to repeat if the daemon dies before it answers.
        idempotencyKey: key,
        ...(allowance === undefined ? {} : { allowance }),
        ...(reason === undefined ? {} : { reason }),
        ...(name === undefined ? {} : { name }),
        ...(folder === null ? {} : { cwd: folder }),
      })
      const isRepeated = type === 'existing' && idempotencyKey !== undefined
      const warned = warning !== undefined ? warningOf(warning) : isRepeated ? REPEATED : {}
      return startAnswerOrTask(acting, record, { waitMs, maxChars: most, ...warned }, call)
    })
  },
})

const REPEATED = {
  notes: () => ['Note: nothing was started: an earlier call with this idempotencyKey started it.'],
  more: { existing: true },
}

function warningOf(warning: NonNullable<OutputOf<'spawn'>['warning']>): {
  notes(process: ProcessView): readonly string[]
  readonly more: object
} {
  switch (warning.code) {
    case 'duplicate_of':
      return {
        notes: () => [`Note: ${warning.pid} runs the same command, started moments ago.`],
        more: { duplicateOf: warning.pid },
      }
    case 'name_in_use':
      return {
        notes: (process) => [sameNameNote(warning.pid, process)],
        more: { sameName: warning.pid },
      }
    case 'unknown_variables':
      return {
        notes: () => [
          `Note: these variables of passEnv are not set: ${warning.names.slice(0, 20).join(', ')}.`,
        ],
        more: { unknownVariables: warning.names.slice(0, 20) },
      }
  }
}

/** A name refers to the newest live process. */
function sameNameNote(other: string, { endedAt, restartedAs }: ProcessView): string {
  if (endedAt !== null && restartedAs === null)
    return `Note: the name refers to ${other} again, which still runs.`
  return `Note: ${other} has this name, too, and still runs: the name refers to ${restartedAs ?? 'the new one'} now.`
}
