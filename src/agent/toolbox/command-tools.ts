import * as z from 'zod'
import { agentSessionOf } from '../../core/agent/session.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { type AgentTool, agentTool, textOutput } from '../tools/agent-tool.ts'
import { runCommandTool } from './run-command.ts'
import type { RunningCalls } from './running-calls.ts'
import { shownOutput, stateText } from './shown-output.ts'
import type { ToolboxParts } from './toolbox.ts'

export interface CommandToolParts extends Pick<ToolboxParts, 'kernel' | 'spawnAs' | 'actAs'> {
  /** The agent that the tools belong to. */
  readonly agent: Pid
  /** Its workspace; null if it has none. */
  readonly root: string | null
  readonly calls: RunningCalls
}

/** As much as a result has inline. */
const PAGE_CHARS = 12_000
const MAX_WAIT_MS = 600_000
const LISTED = 50

/** The command tools of one agent. They act as the agent's session, which sees only processes that the agent started. */
export function commandTools(parts: CommandToolParts): readonly AgentTool[] {
  const reeve = () => parts.actAs(`session:${agentSessionOf(parts.agent)}`)
  return [
    runCommandTool(parts),
    commandOutputTool(reeve),
    commandInputTool(reeve),
    stopCommandTool(reeve),
    listProcessesTool(reeve),
  ]
}

const pid = z.string().min(1).max(200).describe('the pid of the command')

function commandOutputTool(reeve: () => ReeveVerbs): AgentTool {
  return agentTool({
    name: 'command_output',
    description: 'Reads the output of a command from a cursor on (o0 is the beginning), or its last lines.',
    input: z.strictObject({
      pid,
      cursor: z.string().max(20).optional().describe('from an earlier answer; without it the last lines'),
      waitMs: z
        .number()
        .int()
        .min(0)
        .max(MAX_WAIT_MS)
        .optional()
        .describe('wait for its end at most this long'),
    }),
    recovery: 'rerunnable',
    isBounded: true,
    maxMs: null,
    async run({ pid: given, cursor, waitMs = 0 }, { abortSignal: signal }) {
      const verbs = reeve()
      const found = await verbs.show({ pid: given })
      if (waitMs > 0) await verbs.wait({ pid: found.pid, timeoutMs: waitMs }, { signal })
      signal.throwIfAborted()
      if (cursor === undefined) {
        const { text, range } = await shownOutput(verbs, found.pid)
        const record = await verbs.show({ pid: found.pid })
        return { ...textOutput(`${text}\n(${stateText(record)} Cursor o${range.to}.)`), range }
      }
      const page = await verbs.poll({ pid: found.pid, cursor, maxChars: PAGE_CHARS })
      const gaps = page.truncated.map(({ from, to }) => ` Bytes ${from} to ${to} are not kept.`).join('')
      const more = page.more ? ' There is more.' : ''
      return textOutput(`${page.text}\n(${stateText(page.record)} Cursor ${page.cursor}.${more}${gaps})`)
    },
  })
}

function commandInputTool(reeve: () => ReeveVerbs): AgentTool {
  return agentTool({
    name: 'command_input',
    description:
      'Writes to the standard input or the terminal of a command that was started with stdin or pty.',
    input: z.strictObject({
      pid,
      text: z.string().max(100_000).describe('written as it is; end a line with \\n'),
      close: z.boolean().optional().describe('then close the input'),
    }),
    recovery: 'bound',
    async run({ pid: given, text, close = false }) {
      const verbs = reeve()
      if (text !== '') await verbs.write({ pid: given, text })
      if (close) await verbs.closeInput({ pid: given })
      return textOutput(close ? 'Written; the input is closed.' : 'Written.')
    },
  })
}

function stopCommandTool(reeve: () => ReeveVerbs): AgentTool {
  return agentTool({
    name: 'stop_command',
    description: 'Ends a command and everything that it started.',
    input: z.strictObject({ pid, force: z.boolean().optional().describe('at once, without a grace') }),
    recovery: 'rerunnable',
    async run({ pid: given, force = false }) {
      const { record } = await reeve().kill({
        pid: given,
        reason: 'stopped by its agent',
        ...(force ? { graceMs: 1 } : {}),
      })
      return textOutput(stateText(record))
    },
  })
}

function listProcessesTool(reeve: () => ReeveVerbs): AgentTool {
  return agentTool({
    name: 'list_processes',
    description: 'Lists the commands and agents that you have started: pid, state, what it runs.',
    input: z.strictObject({ ended: z.boolean().optional().describe('also those that have ended') }),
    recovery: 'rerunnable',
    async run({ ended = false }) {
      const { processes, next } = await reeve().list({
        filter: { kind: ['command', 'agent', 'workflow'], ...(ended ? { status: 'any' as const } : {}) },
        newestFirst: true,
        limit: LISTED,
      })
      if (processes.length === 0) return textOutput(ended ? 'You have started none.' : 'None is running.')
      const lines = processes.map(
        ({ record }) => `${record.pid} ${record.kind} ${stateText(record)} ${record.identity.label}`,
      )
      return textOutput([...lines, ...(next === null ? [] : [`(the newest ${LISTED})`])].join('\n'))
    },
  })
}
