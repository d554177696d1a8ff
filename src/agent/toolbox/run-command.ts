import * as z from 'zod'
import { agentSessionOf } from '../../core/agent/session.ts'
import { awaitsApproval } from '../../core/process/gate.ts'
import { hasEnded, type ProcessRecord } from '../../core/process/record.ts'
import type { InputOf } from '../../verbs/reeve.ts'
import { type AgentTool, agentTool, ToolError, type ToolOutput, textOutput } from '../tools/agent-tool.ts'
import { resolveIn } from '../tools/files/workspace-path.ts'
import { awaitChild } from './await-child.ts'
import { problemOf } from './call-result.ts'
import type { CommandToolParts } from './command-tools.ts'
import { justificationOf } from './justification.ts'
import type { RunningCall } from './running-calls.ts'
import { shownOutput, stateText } from './shown-output.ts'

const DEFAULT_RUN_MS = 120_000
const MAX_RUN_MS = 3_600_000
const START_MS = 10_000

const input = z
  .strictObject({
    command: z.string().min(1).max(100_000).optional().describe('a line for the shell'),
    argv: z
      .array(z.string())
      .min(1)
      .max(1_000)
      .optional()
      .describe('a program and its arguments, without a shell'),
    cwd: z.string().min(1).optional().describe('a folder of the workspace'),
    timeoutMs: z.number().int().min(1).max(MAX_RUN_MS).optional().describe(`default ${DEFAULT_RUN_MS}`),
    onTimeout: z
      .enum(['background', 'end'])
      .optional()
      .describe('after timeoutMs: let it run on in the background (default), or end it'),
    background: z.boolean().optional().describe('start it, and do not wait: for servers and watchers'),
    stdin: z.boolean().optional().describe('keep its standard input open for command_input'),
    pty: z.boolean().optional().describe('run it in a terminal'),
  })
  .refine(({ command, argv }) => (command === undefined) !== (argv === undefined), 'give command or argv')

type Input = z.output<typeof input>

export function runCommandTool(parts: CommandToolParts): AgentTool {
  return agentTool({
    name: 'run_command',
    description:
      'Runs a command in the workspace, and returns its exit code and output. Long output is cut to its last lines; read the rest with command_output.',
    input,
    // A later attempt finds the command that the first one started, and waits for it.
    recovery: 'rerunnable',
    essential: true,
    isBounded: true,
    maxMs: null,
    async run(asked, { pid, abortSignal }) {
      const call = parts.calls.of(pid)
      const started = await start(parts, call, asked)
      if (asked.background === true) return inBackground(parts, started)
      const { timeoutMs = DEFAULT_RUN_MS, onTimeout = 'background' } = asked
      const runMs = onTimeout === 'end' ? null : timeoutMs
      const record = await awaitChild(parts.kernel(), call.work, started.pid, { signal: abortSignal, runMs })
      return shown(parts, record)
    },
  })
}

async function start(
  { root, spawnAs }: CommandToolParts,
  { work, agent }: RunningCall,
  { command, argv, cwd, timeoutMs = DEFAULT_RUN_MS, onTimeout, background, stdin, pty }: Input,
): Promise<ProcessRecord> {
  const folder = cwd === undefined ? root : await folderIn(root, cwd)
  const isEnded = onTimeout === 'end' && background !== true
  const request: InputOf<'spawn'> = {
    kind: 'command',
    parent: work.record.pid,
    idempotencyKey: 'command',
    // It may outlive the call, and never the agent.
    lifetime: 'session',
    ...(folder === null ? {} : { cwd: folder }),
    ...(agent.envRef === null ? {} : { envRef: agent.envRef }),
    spec: {
      ...(argv === undefined ? { run: command ?? '' } : { argv }),
      ...(isEnded ? { timeoutMs } : {}),
      ...(stdin === true ? { stdin: 'pipe' as const } : {}),
      ...(pty === true ? { pty } : {}),
    },
  }
  return spawnAs(work, request)
}

async function folderIn(root: string | null, cwd: string): Promise<string> {
  if (root === null) return cwd
  const { real, isInside } = await resolveIn(root, cwd)
  if (isInside) return real
  throw new ToolError(
    'outside_workspace',
    `${cwd} is outside of the workspace. Commands start in a folder of it.`,
  )
}

async function inBackground(parts: CommandToolParts, record: ProcessRecord): Promise<ToolOutput> {
  if (awaitsApproval(record))
    return textOutput(`${record.pid}: a person is asked about this command. You are told when it ends.`)
  const begun = await parts.kernel().waits.untilBegun(record, START_MS)
  if (hasEnded(begun)) return shown(parts, begun)
  return textOutput(
    `${record.pid} runs in the background. Read its output with command_output; you are told when it ends.`,
  )
}

async function shown(parts: CommandToolParts, record: ProcessRecord): Promise<ToolOutput> {
  const { pid, outcome } = record
  // It never began: a person denied it, or it could not be started.
  if (outcome !== null && outcome.startedAt === null)
    throw new ToolError('refused', problemOf(record, outcome, await justificationOf(parts.kernel(), record)))
  const { text, range } = await shownOutput(parts.actAs(`session:${agentSessionOf(parts.agent)}`), pid)
  const state = hasEnded(record)
    ? stateText(record)
    : `${pid} has not ended yet, and runs on in the background. You are told when it ends.`
  return { ...textOutput(`${state}\n${text}`), range }
}
