import * as z from 'zod'
import { duration } from './scalars.ts'
import { variableName, variableValue } from './variables.ts'

const MiB = 1024 * 1024
const argument = z.string().regex(/^[^\0]*$/, 'must not have NUL in it')
const MAX_WATCH_NAME_CHARS = 100
const terminalSide = z.number().int().min(1).max(1_000)
export const terminalSize = {
  cols: terminalSide.describe('the width in columns'),
  rows: terminalSide.describe('the height in rows'),
}

/** The signals of Linux, where commands run. */
const OS_SIGNALS = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGIOT',
  'SIGBUS',
  'SIGFPE',
  'SIGKILL',
  'SIGUSR1',
  'SIGSEGV',
  'SIGUSR2',
  'SIGPIPE',
  'SIGALRM',
  'SIGTERM',
  'SIGCHLD',
  'SIGSTKFLT',
  'SIGCONT',
  'SIGSTOP',
  'SIGTSTP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGVTALRM',
  'SIGPROF',
  'SIGWINCH',
  'SIGIO',
  'SIGPOLL',
  'SIGPWR',
  'SIGSYS',
]

export const osSignal = (message = 'must be the name of an OS signal, like SIGTERM or SIGHUP') =>
  z
    .string()
    .refine((name) => OS_SIGNALS.includes(name), message)
    .describe('an OS signal by name')

const watch = z
  .strictObject({
    text: argument.min(1).max(1_000).exactOptional().describe('a text that a line contains'),
    pattern: argument.min(1).max(1_000).exactOptional().describe('an RE2 pattern that a line matches'),
    name: argument.min(1).max(MAX_WATCH_NAME_CHARS).exactOptional().describe('its name in notices'),
  })
  .refine(
    ({ text, pattern }) => (text === undefined) !== (pattern === undefined),
    'a watch has either text or pattern',
  )

const readyWithin = {
  timeoutMs: duration
    .min(1)
    .exactOptional()
    .describe('how long it may take to be ready, in milliseconds; 60 s by default'),
}
const readyWhen = z.union([
  z.strictObject({
    log: argument.min(1).max(1_000).describe('an RE2 pattern that a line matches'),
    ...readyWithin,
  }),
  z.strictObject({
    port: z.number().int().min(1).max(65_535).describe('a port that accepts connections'),
    ...readyWithin,
  }),
  z.strictObject({
    http: z
      .string()
      .max(2_000)
      .regex(/^https?:\/\/[^\s]+$/, 'must be an http:// or https:// URL')
      .describe('a URL that answers without a server error'),
    ...readyWithin,
  }),
  z.strictObject({
    command: argument.min(1).max(10_000).describe('a shell command that succeeds'),
    ...readyWithin,
  }),
])

/** Far more than any file of variables has. */
const MAX_KEPT_VARIABLES = 10_000

/** The program of a command and its options. Unknown fields are errors. */
export const commandSpec = z
  .strictObject({
    argv: z.array(argument).min(1).exactOptional().describe('a program and its arguments, without a shell'),
    run: argument.min(1).exactOptional().describe("a command line for the user's shell, passed on unchanged"),
    env: z
      .record(variableName, variableValue)
      .exactOptional()
      .describe('variables that are added to the base environment'),
    passEnv: z
      .array(variableName)
      .max(200)
      .exactOptional()
      .describe('names of secrets that it may see, from its client or from the base environment'),
    inheritEnv: z
      .enum(['whole', 'part'])
      .exactOptional()
      .describe(
        'whole: it runs in the environment of inherited; part: in the base environment plus inherited. Nothing of it is stored',
      ),
    keepEnv: z
      .array(variableName)
      .max(MAX_KEPT_VARIABLES)
      .exactOptional()
      .describe(
        'names of variables of inherited that keep their values when a restart passes another inherited',
      ),
    pty: z
      .union([
        z.boolean(),
        z.strictObject({
          cols: terminalSize.cols.exactOptional(),
          rows: terminalSize.rows.exactOptional(),
        }),
      ])
      .exactOptional()
      .describe('runs it in a terminal, 120 × 30 by default'),
    stdin: z
      .union([
        z.enum(['null', 'pipe']),
        z.strictObject({ text: z.string().max(MiB).describe('the whole input') }),
      ])
      .exactOptional()
      .describe('empty by default; a pipe for write and closeInput; or the whole input as text'),
    output: z
      .enum(['merged', 'tagged', 'direct'])
      .exactOptional()
      .describe('one pipe, two pipes whose bytes are tagged, or a file that the program writes itself'),
    keepBytes: z
      .number()
      .int()
      .min(1)
      .max(4096 * MiB)
      .exactOptional()
      .describe('how many bytes at the end of its output are kept; by default as many as for other commands'),
    timeoutMs: duration.min(1).exactOptional().describe('how long it may run, in milliseconds'),
    idleTimeoutMs: duration.min(1).exactOptional().describe('how long it may print nothing, in milliseconds'),
    endSignal: osSignal().exactOptional().describe('the signal that asks it to end; SIGTERM by default'),
    graceMs: duration
      .exactOptional()
      .describe('how long it may take to end before it is forced, in milliseconds; 0: it is never forced'),
    watch: z
      .array(watch)
      .min(1)
      .max(20)
      .refine(
        (watches) => new Set(watches.map(watchName)).size === watches.length,
        `watches must have different names; a watch without a name is called by the first ${MAX_WATCH_NAME_CHARS} characters of its text or pattern`,
      )
      .exactOptional()
      .describe('lines of its output that become notices to its owner'),
    ready: readyWhen.exactOptional().describe('how to tell that it is ready'),
    notify: z
      .enum(['complete', 'failure', 'none'])
      .exactOptional()
      .describe(
        'whether its owner gets a notice of its end; complete by default. If it is given for a command without an owner, the notice goes to the person at the machine',
      ),
    heartbeatMs: duration
      .min(60_000)
      .exactOptional()
      .describe('sends its owner a notice that it still prints, at most this often; 60000 or more'),
    restart: z
      .strictObject({
        on: z
          .enum(['never', 'failure', 'always'])
          .describe('failure: after it failed or was lost; always: after every end'),
        delayMs: duration
          .exactOptional()
          .describe('the delay before the first restart, doubled each time; 1 s by default'),
        maxDelayMs: duration.exactOptional().describe('the longest delay; 60 s by default'),
        limit: z
          .number()
          .int()
          .min(1)
          .max(1_000)
          .exactOptional()
          .describe('how many restarts in a row; 10 by default'),
      })
      .exactOptional()
      .describe('whether it is started again after it ended by itself, as a new process of the same name'),
    limits: z
      .strictObject({
        memoryBytes: z.number().int().min(MiB).exactOptional().describe('memory of all its programs'),
        cpuSeconds: z.number().min(0.1).max(1e9).exactOptional().describe('CPU time of all its programs'),
        openFiles: z
          .number()
          .int()
          .min(8)
          .max(1_048_576)
          .exactOptional()
          .describe('open files of each program'),
        outputBytes: z.number().int().min(1).exactOptional().describe('bytes that it may print'),
      })
      .exactOptional()
      .describe('exceeding one ends the command'),
  })
  .refine(
    (spec) => (spec.argv === undefined) !== (spec.run === undefined),
    'a command has either argv or run',
  )

/** The name of a watch: given, or the beginning of its text or pattern. */
export function watchName({ name, text, pattern }: WatchSpec): string {
  return name ?? (text ?? pattern ?? '').slice(0, MAX_WATCH_NAME_CHARS)
}

export type WatchSpec = z.output<typeof watch>
export type ReadySpec = z.output<typeof readyWhen>
export type CommandSpec = z.output<typeof commandSpec>
