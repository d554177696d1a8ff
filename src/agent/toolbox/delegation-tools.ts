import { resolve } from 'node:path'
import * as z from 'zod'
import { FORK_MODES } from '../../core/agent/fork.ts'
import { agentSessionOf } from '../../core/agent/session.ts'
import { INPUT_MODES, type Part, phaseOf } from '../../core/agent/state.ts'
import { PART_MEDIA_TYPE } from '../../core/blob/part-blob.ts'
import { objectOf } from '../../core/json/json.ts'
import type { Pid } from '../../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../../core/process/record.ts'
import { visibleTools } from '../../kernel/written-tools.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { loadParts } from '../parts/stored-parts.ts'
import { type AgentTool, agentTool, ToolError, textOutput } from '../tools/agent-tool.ts'
import type { ToolboxParts } from './toolbox.ts'
import { worktreeTool } from './worktree-tool.ts'

export interface DelegationToolParts extends Pick<ToolboxParts, 'kernel' | 'actAs'> {
  /** The agent that the tools belong to. */
  readonly agent: Pid
  /** Its workspace; null if it has none. */
  readonly root: string | null
  /** The files that the merge of a worktree would change. */
  readonly mergedPaths: ToolboxParts['mergedPaths']
}

const MAX_TEXT_CHARS = 100_000
const MAX_WAIT_MS = 600_000
const PAGE_CHARS = 12_000
const LISTED = 50

const goal = z.string().min(1).max(MAX_TEXT_CHARS)
const pid = z.string().min(1).max(200).describe('the pid of the agent')

/** Agents below an agent. They act as the agent itself, so that the turns that it asks for are reported to it. */
export function delegationTools(parts: DelegationToolParts): readonly AgentTool[] {
  const reeve = () => parts.actAs(`process:${parts.agent}`)
  // Its session sees its agents, too, and those that were granted to it.
  const seen = () => parts.actAs(`session:${agentSessionOf(parts.agent)}`)
  return [
    spawnTool(parts, reeve),
    sendTool(reeve),
    waitTool(seen),
    stopTool(reeve),
    readTool(parts, seen),
    listTool(parts, reeve, seen),
    restoreTool(reeve),
    forkTool(parts, reeve),
    ...(parts.mergedPaths === undefined ? [] : [worktreeTool(parts, parts.mergedPaths, reeve)]),
  ]
}

function spawnTool({ kernel, agent, root }: DelegationToolParts, reeve: () => ReeveVerbs): AgentTool {
  /** A written tool that is named is handed down. If only such ones are named, the child has all others, too. */
  const toolsFor = async (named: readonly string[]) => {
    const { edges } = kernel()
    const row = await edges.store.ask({ ask: 'process', pid: agent })
    const visible = row === null ? [] : await visibleTools(edges, row.record)
    const isWritten = (name: string) => visible.some(({ tool }) => tool.name === name)
    const writtenTools = named.filter(isWritten)
    const tools = named.filter((name) => !isWritten(name))
    return {
      ...(writtenTools.length === 0 ? {} : { writtenTools }),
      ...(tools.length === 0 && writtenTools.length > 0 ? {} : { tools }),
    }
  }
  return agentTool({
    name: 'agent_spawn',
    description:
      'Starts an agent that works on a part of your goal, or several with goals. You get a report when its turn is over, one for all of goals; go on meanwhile, or end your turn.',
    input: z.strictObject({
      goal: goal.optional().describe('what it is to do; it knows nothing else'),
      goals: z.array(goal).optional().describe('an agent for each'),
      context: z.string().min(1).max(MAX_TEXT_CHARS).optional().describe('facts that it needs'),
      role: z.string().min(1).max(200).optional(),
      image: z.string().max(200).optional().describe('coder, reviewer, planner, or one of the workspace'),
      model: z
        .string()
        .max(200)
        .optional()
        .describe('yours by default; acp/claude-code or acp/codex is that agent'),
      tools: z.array(z.string()).optional().describe('of your tools, written ones too; all by default'),
      cwd: z.string().min(1).max(4_096).optional().describe('a folder of your workspace'),
      paths: z
        .array(z.string().min(1).max(4_096))
        .optional()
        .describe('files and folders that it alone may write until it ends: not you'),
      worktree: z
        .boolean()
        .optional()
        .describe('a git worktree and branch of its own; merge it with worktree_merge'),
      preset: z.enum(['observe', 'ask', 'edit', 'full']).optional().describe('the most that it may do'),
      once: z.boolean().optional().describe('it ends with its first turn'),
      allowance: z
        .strictObject({
          tokensIn: z.number().exactOptional(),
          tokensOut: z.number().exactOptional(),
          cost: z.number().exactOptional(),
        })
        .optional()
        .describe('its share of yours; half by default'),
    }),
    // The same call is the same child.
    recovery: 'rerunnable',
    spare: true,
    async run({ cwd, goal, goals, ...asked }, call) {
      const { context, role, image, model, tools: named, paths, worktree, preset, once, allowance } = asked
      if ((goal === undefined) === (goals === undefined))
        throw new ToolError('invalid_input', 'Give goal, or goals.')
      const child = {
        ...(context === undefined ? {} : { context }),
        ...(role === undefined ? {} : { role }),
        ...(image === undefined ? {} : { image }),
        ...(model === undefined ? {} : { model }),
        ...(named === undefined ? {} : await toolsFor(named)),
        ...(paths === undefined || paths.length === 0 ? {} : { paths }),
        ...(worktree === true ? { workspace: { worktree } } : {}),
        ...(preset === undefined ? {} : { preset }),
        ...(once === undefined ? {} : { once }),
        ...(allowance === undefined ? {} : { allowance }),
        ...(cwd === undefined ? {} : { cwd: resolve(root ?? '/', cwd) }),
      }
      const idempotencyKey = `spawn:${call.pid}`
      if (goals !== undefined) {
        const agents = goals.map((one, index) => ({
          goal: one,
          idempotencyKey: `${idempotencyKey}:${index}`,
          ...child,
        }))
        const { agents: begun } = await reeve().spawnAgents({ parent: agent, agents })
        const pids = begun.map(({ record }) => record.pid).join(', ')
        const asking = begun.flatMap(({ type, record }) => (type === 'asked' ? [record.pid] : []))
        const waits = asking.length === 0 ? '' : ` A person is asked first about ${asking.join(', ')}.`
        return textOutput(`${pids} are at work. You get one report of all when each turn is over.${waits}`)
      }
      const one = { parent: agent, goal: goal ?? '', idempotencyKey, ...child }
      const { type, record } = await reeve().spawnAgent(one)
      if (type === 'asked') return textOutput(`${record.pid} waits for a person, who is asked first.`)
      return textOutput(`${record.pid} is at work. You get a report when its turn is over.`)
    },
  })
}

function sendTool(reeve: () => ReeveVerbs): AgentTool {
  return agentTool({
    name: 'agent_send',
    description:
      'Gives one of your agents another input. You get a report of the turn that it starts or joins.',
    input: z.strictObject({
      pid,
      text: z.string().min(1).max(MAX_TEXT_CHARS),
      mode: z
        .enum(INPUT_MODES)
        .optional()
        .describe('queue (default) after its turn, steer into its turn, run only if it is idle or paused'),
    }),
    recovery: 'rerunnable',
    spare: true,
    async run({ pid: to, text, mode = 'queue' }, call) {
      const answer = await reeve().runAgent({ pid: to, id: `send:${call.pid}`, text, mode })
      return textOutput(
        answer.type === 'started'
          ? `Turn ${answer.turn} has begun.`
          : `It is input ${answer.place} that waits.`,
      )
    },
  })
}

function waitTool(reeve: () => ReeveVerbs): AgentTool {
  return agentTool({
    name: 'agent_wait',
    description: 'Waits until one of your agents is idle, paused or ended, and returns its last result.',
    input: z.strictObject({
      pid,
      timeoutMs: z.number().int().min(0).max(MAX_WAIT_MS).optional().describe('60000 by default'),
    }),
    recovery: 'rerunnable',
    spare: true,
    maxMs: null,
    async run({ pid: of, timeoutMs = 60_000 }, { abortSignal: signal }) {
      const answer = await reeve().waitAgent({ pid: of, timeoutMs }, { signal })
      signal.throwIfAborted()
      return textOutput(waitText(of, answer))
    },
  })
}

function waitText(pid: string, answer: OutputOf<'waitAgent'>): string {
  switch (answer.type) {
    case 'interrupted':
      return `The wait for ${pid} was stopped.`
    case 'timed_out':
      return `${pid} is still at work.`
    default: {
      const { turn, record } = answer
      if (turn === null) return `${pid} is ${stateOf(record)}, without a finished turn.`
      const result = typeof turn.result === 'string' ? turn.result : JSON.stringify(turn.result)
      const message = turn.message === undefined ? '' : ` ${turn.message}`
      return `${pid} is ${stateOf(record)}; turn ${turn.turn}: ${turn.reason}.${message}\n${result}`
    }
  }
}

function stateOf(record: ProcessRecord): string {
  return hasEnded(record) ? `ended (${record.status})` : phaseOf(record)
}

function stopTool(reeve: () => ReeveVerbs): AgentTool {
  return agentTool({
    name: 'agent_stop',
    description: 'Cancels the turn of one of your agents, or ends the agent.',
    input: z.strictObject({
      pid,
      end: z.boolean().optional().describe('end the agent and everything that it started'),
    }),
    recovery: 'rerunnable',
    spare: true,
    async run({ pid: of, end = false }, call) {
      const id = `stop:${call.pid}`
      const answer = end
        ? await reeve().shutDownAgent({ pid: of, id, reason: 'ended by its parent' })
        : await reeve().cancelTurn({ pid: of, id })
      return textOutput(`${of}: ${answer.type}.`)
    },
  })
}

function restoreTool(reeve: () => ReeveVerbs): AgentTool {
  return agentTool({
    name: 'agent_restore',
    description:
      'Goes on with one of your agents that has ended, as a new agent that knows its whole session.',
    input: z.strictObject({ pid, text: z.string().min(1).max(MAX_TEXT_CHARS).describe('what it is to do') }),
    recovery: 'rerunnable',
    spare: true,
    async run({ pid: of, text: goal }, call) {
      const asked = { pid: of, goal, idempotencyKey: `restore:${call.pid}` }
      const { type, record } = await reeve().restoreAgent(asked)
      if (type === 'asked') return textOutput(`${record.pid} waits for a person, who is asked first.`)
      return textOutput(`${record.pid} goes on with it. You get a report when its turn is over.`)
    },
  })
}

function forkTool({ agent }: DelegationToolParts, reeve: () => ReeveVerbs): AgentTool {
  return agentTool({
    name: 'agent_fork',
    description:
      'Starts an agent that knows your session up to here, with a goal of its own. You get a report when its turn is over.',
    input: z.strictObject({
      goal,
      pid: pid.optional().describe('whose session; yours by default'),
      at: z.number().int().min(1).optional().describe('the last turn that it knows'),
      mode: z
        .enum(FORK_MODES)
        .optional()
        .describe(
          'copy: it may do what you may; restricted and worker only read, and a worker ends with its turn',
        ),
      worktree: z.boolean().optional(),
    }),
    // The same call is the same fork.
    recovery: 'rerunnable',
    spare: true,
    async run({ pid: of = agent, goal, at, mode, worktree }, call) {
      const { type, record } = await reeve().forkAgent({
        pid: of,
        goal,
        idempotencyKey: `fork:${call.pid}`,
        ...(at === undefined ? {} : { at }),
        ...(mode === undefined ? {} : { mode }),
        ...(worktree === true ? { workspace: { worktree } } : {}),
      })
      if (type === 'asked') return textOutput(`${record.pid} waits for a person, who is asked first.`)
      return textOutput(`${record.pid} is at work. You get a report when its turn is over.`)
    },
  })
}

function readTool({ kernel, agent }: DelegationToolParts, reeve: () => ReeveVerbs): AgentTool {
  return agentTool({
    name: 'agent_read',
    description:
      'Reads the whole result of a turn of one of your agents: its report, and text that was too long for it.',
    input: z.strictObject({
      pid,
      turn: z.number().int().min(1).optional().describe('the last one by default'),
      offset: z.number().int().min(0).optional().describe('the first character, from 0'),
    }),
    recovery: 'rerunnable',
    spare: true,
    isBounded: true,
    async run({ pid: of, turn, offset = 0 }) {
      const text =
        (await reported(of, turn)) ?? waitText(of, await reeve().waitAgent({ pid: of, timeoutMs: 0 }))
      const page = text.slice(offset, offset + PAGE_CHARS).toWellFormed()
      const end = offset + page.length
      const rest = end < text.length ? `; go on with offset ${end}` : ''
      return textOutput(`${page}\n(characters ${offset} to ${end} of ${text.length}${rest})`)
    },
  })

  /** The report is in the log of this agent: it stays when the child is pruned. */
  async function reported(child: string, turn: number | undefined): Promise<string | null> {
    const { store } = kernel().edges
    const number = turn ?? (await store.ask({ ask: 'process', pid: child }))?.record.agent?.turns ?? 0
    const replayKey = `notice:report:${child}:${number}`
    const event = await store.ask({ ask: 'event', pid: agent, replayKey })
    if (event === null && turn !== undefined)
      throw new ToolError('not_found', `You have no report of turn ${turn} of ${child}.`)
    if (event === null) return null
    const { parts } = objectOf(event.payload)
    const [report, ...whole] = (Array.isArray(parts) ? parts : []) as readonly Part[]
    const stored = whole.map((part) => ({ ...part, mediaType: PART_MEDIA_TYPE }))
    const loaded = await loadParts(store.blobs, stored)
    return [report, ...loaded].map((part) => String(part?.['text'] ?? '')).join('\n')
  }
}

function listTool(
  { agent }: DelegationToolParts,
  reeve: () => ReeveVerbs,
  seen: () => ReeveVerbs,
): AgentTool {
  return agentTool({
    name: 'agent_list',
    description:
      'Lists yourself, your agents and agents that you may only look at: pid, state, turns, cost, goal.',
    input: z.strictObject({ ended: z.boolean().optional().describe('also those that have ended') }),
    recovery: 'rerunnable',
    spare: true,
    async run({ ended = false }) {
      const verbs = reeve()
      const self = await verbs.show({ pid: agent })
      const { agents, next } = await verbs.agents({ parent: agent, ended, limit: LISTED })
      const lines = agents.map(
        (one) => `${one.pid} ${one.phase}, turn ${one.turns}, $${one.cost}, ${one.model}: ${one.label}`,
      )
      const own = `${self.pid} is you (${self.identity.label}); your session is ${agentSessionOf(agent)}.`
      const more = next === null ? [] : [`(the newest ${LISTED})`]
      return textOutput([own, ...lines, ...more, ...(await granted())].join('\n'))
    },
  })

  async function granted(): Promise<readonly string[]> {
    const verbs = seen()
    const { grants } = await verbs.grants({ session: agentSessionOf(agent) })
    const records = await Promise.all(grants.slice(0, LISTED).map(({ pid: of }) => verbs.show({ pid: of })))
    return records
      .filter(({ kind }) => kind === 'agent')
      .map((one) => `${one.pid} ${stateOf(one)}, shown to you: ${one.identity.label}`)
  }
}
