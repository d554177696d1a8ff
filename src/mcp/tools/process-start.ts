import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { commandSpec } from '../../verbs/shapes/command-spec.ts'
import { lifetime } from '../../verbs/shapes/record.ts'
import { registration } from '../../verbs/shapes/registration.ts'
import { begunOrTask, begunOutput, startOrTaskMs } from '../begun.ts'
import { maxChars } from '../page.ts'
import { tool } from '../tool.ts'

const spec = commandSpec.shape
const asked = registration.options[0].shape

const input = z
  .strictObject({
    run: spec.run.describe('a line for the shell, such as: npm test'),
    argv: spec.argv.describe('instead of run: a program and its arguments, without any shell'),
    cwd: asked.cwd.describe("the folder to run it in; your workspace folder, or the daemon's, by default"),
    name: asked.name.describe('a short name that works wherever a pid does, such as: web'),
    env: spec.env.describe('variables, added to the environment'),
    passEnv: spec.passEnv,
    pty: spec.pty.describe(
      'true, or its size: gives it a terminal, for REPLs, prompts and full-screen programs',
    ),
    stdin: spec.stdin.describe(
      "'pipe' if you want to write to it with process_write; or { text }: all of its input",
    ),
    timeoutMs: spec.timeoutMs.describe('end it if it runs longer than this'),
    watch: spec.watch.describe(
      'lines that you want to be told of, in the inbox: [{ text: "ERROR" }] or { pattern }',
    ),
    ready: spec.ready.describe(
      'what shows that it is ready: { log: pattern }, { port }, { http: url } or { command }; the inbox tells you, and process_wait with ready waits for it',
    ),
    notify: spec.notify.describe('whether the inbox tells of its end: complete (default), failure or none'),
    restart: spec.restart.describe(
      '{ on: "failure" } or { on: "always" }: start it again when it has ended by itself',
    ),
    heartbeatMs: spec.heartbeatMs.describe(
      '60000 or more: the inbox tells, at most this often, that it still prints',
    ),
    lifetime: lifetime
      .extract(['session', 'detached'])
      .default('session')
      .describe('session: it may be ended when you are gone for long. detached: it runs until it is killed'),
    allowance: asked.allowance.describe(
      'the most that it and all below it may use, such as { cpuSeconds: 600, outputBytes: 10000000 }: more of it ends it',
    ),
    waitMs: startOrTaskMs,
    maxChars,
    idempotencyKey: asked.idempotencyKey.describe('the same key again answers with the process there is'),
  })
  .refine(({ run, argv }) => (run === undefined) !== (argv === undefined), 'give either run or argv')

export const processStart = tool({
  name: 'process_start',
  title: 'Start a command',
  description: [
    'Runs a command and answers with what it printed. A fast one (ls, git status, a short test) is finished in this',
    'one call: you get its exit code and output. A slow one (a server, a build, a watcher, a REPL) goes on in the',
    'background: you get its pid, and use process_wait (until it ends or prints a line), process_poll (what is new),',
    'process_write (type into it) and process_kill. It goes on when this call, this connection or your own program',
    'ends, and nothing that it prints is lost. Raise waitMs, up to 30000, to wait longer for the end.',
    'Do not add & or nohup.',
  ].join(' '),
  input,
  output: begunOutput,
  does: 'change',
  async run(
    { waitMs, maxChars: most, name, cwd, lifetime: lives, idempotencyKey, allowance, ...command },
    call,
  ) {
    const folder = cwd ?? call.folder
    const key = idempotencyKey ?? `mcp-${randomUUID()}`
    return call.perform(async (acting, session) => {
      const { record, warning } = await acting.spawn({
        kind: 'command',
        spec: command,
        owner: { session },
        lifetime: lives,
        // Makes it safe to ask again when the daemon goes down before it has answered.
        idempotencyKey: key,
        ...(allowance === undefined ? {} : { allowance }),
        ...(name === undefined ? {} : { name }),
        ...(folder === null ? {} : { cwd: folder }),
      })
      const answer = await begunOrTask(acting, record.pid, { waitMs, maxChars: most }, call)
      if ('task' in answer) return answer
      if (warning === undefined || !('pid' in warning)) return answer
      const { pid } = warning
      return warning.code === 'duplicate_of'
        ? {
            structured: { ...answer.structured, duplicateOf: pid },
            text: `${answer.text}\nNote: ${pid} runs the same command, started moments ago.`,
          }
        : {
            structured: { ...answer.structured, sameName: pid },
            text: `${answer.text}\nNote: ${pid} has the name ${record.name}, too, and goes on.`,
          }
    })
  },
})
