import * as z from 'zod'
import { duration } from './scalars.ts'
import { variableName, variableValue } from './variables.ts'

const MiB = 1024 * 1024
const argument = z.string().regex(/^[^\0]*$/, 'must not have NUL in it')
const WATCH_NAME_CHARS = 100
const terminalSide = z.number().int().min(1).max(1_000)
export const terminalSize = { cols: terminalSide, rows: terminalSide }

/** Those of Linux, where commands run. */
const OS_SIGNALS = [
  ...['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGIOT', 'SIGBUS', 'SIGFPE', 'SIGKILL'],
  ...['SIGUSR1', 'SIGSEGV', 'SIGUSR2', 'SIGPIPE', 'SIGALRM', 'SIGTERM', 'SIGCHLD', 'SIGSTKFLT', 'SIGCONT'],
  ...['SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGURG', 'SIGXCPU', 'SIGXFSZ', 'SIGVTALRM', 'SIGPROF'],
  ...['SIGWINCH', 'SIGIO', 'SIGPOLL', 'SIGPWR', 'SIGSYS'],
]

export const osSignal = (otherwise = 'must be the name of an OS signal, like SIGTERM or SIGHUP') =>
  z
    .string()
    .refine((name) => OS_SIGNALS.includes(name), otherwise)
    .describe('an OS signal by name')

const watched = z
  .strictObject({
    text: argument.min(1).max(1_000).exactOptional().describe('a text that a line has in it'),
    pattern: argument.min(1).max(1_000).exactOptional().describe('an RE2 pattern that a line fits'),
    name: argument.min(1).max(WATCH_NAME_CHARS).exactOptional().describe('what it is called in notices'),
  })
  .refine(
    ({ text, pattern }) => (text === undefined) !== (pattern === undefined),
    'a watch has either text or pattern',
  )

const readyWithin = { timeoutMs: duration.min(1).exactOptional().describe('60 s by default') }
const readyWhen = z.union([
  z.strictObject({
    log: argument.min(1).max(1_000).describe('an RE2 pattern that a line fits'),
    ...readyWithin,
  }),
  z.strictObject({
    port: z.number().int().min(1).max(65_535).describe('accepts connections here'),
    ...readyWithin,
  }),
  z.strictObject({
    http: z
      .string()
      .max(2_000)
      .regex(/^https?:\/\/[^\s]+$/, 'must be an http:// or https:// URL')
      .describe('answers, and with no error of its own'),
    ...readyWithin,
  }),
  z.strictObject({
    command: argument.min(1).max(10_000).describe('a line for the shell that succeeds'),
    ...readyWithin,
  }),
])

/** A file of variables has dozens. */
const MAX_KEPT = 10_000

/** What a command is. Closed: a field that does not exist is an error, not a wish. */
export const commandSpec = z
  .strictObject({
    argv: z.array(argument).min(1).exactOptional().describe('a program and its arguments, without any shell'),
    run: argument.min(1).exactOptional().describe("a line for the user's shell, passed on byte for byte"),
    env: z.record(variableName, variableValue).exactOptional().describe('added to the base environment'),
    passEnv: z
      .array(variableName)
      .max(200)
      .exactOptional()
      .describe('secrets that it may see, by name: of its client, or of the base environment'),
    inheritEnv: z
      .enum(['whole', 'part'])
      .exactOptional()
      .describe(
        'whole: it runs in the environment that inherited has; part: in the base environment and that. Nothing of it is stored',
      ),
    keepEnv: z
      .array(variableName)
      .max(MAX_KEPT)
      .exactOptional()
      .describe(
        'names of variables of inherited that stay as they are when a restart is given another inherited',
      ),
    pty: z
      .union([
        z.boolean(),
        z.strictObject({ cols: terminalSide.exactOptional(), rows: terminalSide.exactOptional() }),
      ])
      .exactOptional()
      .describe('a terminal, 120 × 30 unless it says otherwise'),
    stdin: z
      .union([z.enum(['null', 'pipe']), z.strictObject({ text: z.string().max(MiB) })])
      .exactOptional()
      .describe('nothing by default; a pipe for write and closeInput; or the whole input as text'),
    output: z
      .enum(['merged', 'tagged', 'direct'])
      .exactOptional()
      .describe('one pipe, two pipes that are told apart, or a file that the program writes by itself'),
    keepBytes: z
      .number()
      .int()
      .min(1)
      .max(4096 * MiB)
      .exactOptional()
      .describe('how much of the end of its output is kept; as much as of others, unless it says otherwise'),
    timeoutMs: duration.min(1).exactOptional().describe('how long it may run'),
    idleTimeoutMs: duration.min(1).exactOptional().describe('how long it may print nothing'),
    endSignal: osSignal().exactOptional().describe('what asks it to end; SIGTERM by default'),
    graceMs: duration
      .exactOptional()
      .describe('how long it may take to end before it is forced; 0: it is never forced'),
    watch: z
      .array(watched)
      .min(1)
      .max(20)
      .refine(
        (watches) => new Set(watches.map(watchName)).size === watches.length,
        `watches must have different names; one without a name is called by the first ${WATCH_NAME_CHARS} characters of what it looks for`,
      )
      .exactOptional()
      .describe('lines of its output that its owner is told of'),
    ready: readyWhen.exactOptional().describe('what shows that it is ready'),
    notify: z
      .enum(['complete', 'failure', 'none'])
      .exactOptional()
      .describe(
        'whether its owner is told of its end; complete by default. If it is given, and nobody owns it, the person at the machine is told',
      ),
    heartbeatMs: duration
      .min(60_000)
      .exactOptional()
      .describe('tell its owner that it still prints, at most this often; 60000 or more'),
    restart: z
      .strictObject({
        on: z
          .enum(['never', 'failure', 'always'])
          .describe('failure: when it failed or was lost; always: when it ended'),
        delayMs: duration.exactOptional().describe('before the first; doubled each time; 1 s by default'),
        maxDelayMs: duration.exactOptional().describe('60 s by default'),
        limit: z
          .number()
          .int()
          .min(1)
          .max(1_000)
          .exactOptional()
          .describe('how often in a row; 10 by default'),
      })
      .exactOptional()
      .describe('whether it is started again when it has ended by itself, as a new process of the same name'),
    limits: z
      .strictObject({
        memoryBytes: z.number().int().min(MiB).exactOptional(),
        cpuSeconds: z.number().min(0.1).max(1e9).exactOptional(),
        openFiles: z.number().int().min(8).max(1_048_576).exactOptional(),
        outputBytes: z.number().int().min(1).exactOptional(),
      })
      .exactOptional(),
  })
  .refine(
    (spec) => (spec.argv === undefined) !== (spec.run === undefined),
    'a command has either argv or run',
  )

/** What a watch is called that has no name of its own. */
export function watchName({ name, text, pattern }: WatchSpec): string {
  return name ?? (text ?? pattern ?? '').slice(0, WATCH_NAME_CHARS)
}

export type WatchSpec = z.output<typeof watched>
export type ReadySpec = z.output<typeof readyWhen>
export type CommandSpec = z.output<typeof commandSpec>
