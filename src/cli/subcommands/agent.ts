import { didYouMean } from '../../base/nearest-name.ts'
import { ReeveError } from '../../core/errors.ts'
import { EFFORTS } from '../../verbs/efforts.ts'
import { FORK_MODES } from '../../verbs/fork-modes.ts'
import { OUTSIDE_NAMES } from '../../verbs/outside-names.ts'
import type { InputOf, OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { allowMore, changeModel, effortOf } from '../agent/adjust-agent.ts'
import type { AgentOptions } from '../agent/agent-options.ts'
import { forkAgent } from '../agent/fork-agent.ts'
import { contentIn } from '../agent/input-content.ts'
import { outsideIn } from '../agent/outside-program.ts'
import { costText, printAgents, printCost } from '../agent/print-agents.ts'
import { rewind } from '../agent/rewind.ts'
import { SessionPrinter, textOf } from '../agent/session-printer.ts'
import { startAgent, watchAgent } from '../agent/start-agent.ts'
import { missedGoal, turnText } from '../agent/turn-text.ts'
import { nextInputText } from '../agent/watch-session.ts'
import { ALLOW, allowanceIn, amountsIn } from '../allow.ts'
import type { Context } from '../context.ts'
import { FAILED } from '../exit-code.ts'
import { amountsText, usedText } from '../print/budget.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

type Options = AgentOptions
type Action = (context: Context<Options>, reeve: ReeveVerbs, rest: readonly string[]) => Promise<number>

/** What an agent is made of, below another one or not. */
const OF_NEW_AGENTS = [
  ...(['image', 'model', 'with', 'with-program', 'name', 'system', 'effort', 'tool'] as const),
  ...(['once', 'detach', 'allow', 'soft-limit'] as const),
] as const

export const agent = subcommand({
  name: 'agent',
  summary: 'Runs an agent in this folder, and talks to agents',
  usage: [
    'agent [options] "<goal>"',
    'agent spawn [options] <parent> "<goal>" ["<goal>" ...]',
    'agent restore <agent> ["<goal>"]',
    'agent fork [options] <agent> "<goal>"',
    'agent list [--all]',
    'agent show | attach | cost | pause | resume | cancel | compact | end <agent>',
    'agent rewind <agent> [--list | --to <turn> | --branch <label>] [--undo-files] [--dry-run] [--label <label>]',
    'agent allow <agent> <name=amount>…',
    'agent model <agent> <provider/model> [--effort <level>]',
    'agent send | queue | steer <agent> [--file <file>] "<text>"',
    'agent export <agent> [--format jsonl|markdown|ui-messages]',
  ],
  options: {
    image: {
      type: 'text',
      value: 'name',
      about: 'the image that it is made from; reeve image list shows them',
    },
    model: { type: 'text', short: 'm', value: 'provider/model', about: 'the model; $REEVE_MODEL by default' },
    with: {
      type: 'text',
      value: 'agent',
      about: `an agent of its own instead of a model: ${OUTSIDE_NAMES.join(', ')}`,
    },
    'with-program': {
      type: 'text',
      value: 'command',
      about: 'any other program that speaks the Agent Client Protocol',
    },
    name: { type: 'text', short: 'n', value: 'name', about: 'a name for the agent' },
    system: { type: 'text', value: 'text', about: 'its system prompt, instead of the built-in one' },
    effort: { type: 'text', value: 'level', about: `how much the model thinks: ${EFFORTS.join(', ')}` },
    tool: { type: 'texts', value: 'name', about: 'a tool that it may call; all by default; repeatable' },
    mcp: { type: 'text', value: 'file', about: 'a JSON file with MCP servers whose tools it may call' },
    memory: { type: 'flag', about: 'long-term memory in memory/ and knowledge/ of this folder' },
    file: { type: 'texts', value: 'file', about: 'a file that the agent gets with the text; repeatable' },
    until: { type: 'text', value: 'command', about: 'repeat turns until this command succeeds' },
    'max-turns': { type: 'number', value: 'count', about: 'with --until: how many turns at most' },
    path: {
      type: 'texts',
      value: 'path',
      about: 'spawn, fork: a file or folder that it alone may write until it ends; repeatable',
    },
    worktree: {
      type: 'flag',
      about: 'spawn, fork: it works in a git worktree of its own; reeve worktree merges it',
    },
    at: {
      type: 'number',
      value: 'turn',
      about: 'fork: the last turn that it knows; where the session is now by default',
    },
    mode: {
      type: 'text',
      value: 'mode',
      about: `fork: ${FORK_MODES.join(', ')}; the first by default`,
    },
    root: {
      type: 'texts',
      value: 'name',
      about: 'fork: an object, or a folder of objects, that it sees; all by default; repeatable',
    },
    once: { type: 'flag', about: 'the agent ends with its first turn' },
    detach: { type: 'flag', short: 'd', about: 'print its pid, and leave it at work' },
    session: { type: 'text', value: 'id', about: 'the session that owns it' },
    allow: ALLOW,
    'soft-limit': {
      type: 'texts',
      value: 'name=amount',
      about: 'when it has used this much of tokensIn, tokensOut or cost, it pauses and asks; repeatable',
    },
    last: { type: 'number', value: 'count', about: 'attach, show: how many entries of the past to show' },
    format: { type: 'text', value: 'name', about: 'export: jsonl (default), markdown or ui-messages' },
    follow: {
      type: 'flag',
      short: 'f',
      about: 'attach in a pipe: go on when the agent is idle, until it ends',
    },
    drop: { type: 'flag', about: 'cancel: remove the inputs that wait, too; else the first begins a turn' },
    all: { type: 'flag', short: 'a', about: 'list: ended agents, too' },
    list: { type: 'flag', about: 'rewind: list the turns and branches; without --to and --branch, too' },
    to: { type: 'number', value: 'turn', about: 'rewind: go back to before this turn' },
    branch: {
      type: 'text',
      value: 'label',
      about: 'rewind: go to the end of another branch, by its label or the number of its last turn',
    },
    label: { type: 'text', value: 'label', about: 'rewind: a name for the branch that is left' },
    'undo-files': {
      type: 'flag',
      about: 'rewind: put back the files that only its file tools have changed since then',
    },
    'dry-run': { type: 'flag', about: 'rewind: change nothing, and say what would happen to each file' },
  },
  takes: {
    '': ['all'],
    otherwise: [...OF_NEW_AGENTS, 'mcp', 'memory', 'file', 'until', 'max-turns', 'session', 'last'],
    spawn: [...OF_NEW_AGENTS, 'path', 'worktree'],
    restore: [],
    fork: [
      ...(['at', 'mode', 'root', 'image', 'model', 'name', 'system', 'effort', 'tool'] as const),
      ...(['path', 'worktree', 'once', 'allow'] as const),
    ],
    list: ['all'],
    show: ['last'],
    attach: ['last', 'follow'],
    cost: [],
    pause: [],
    resume: [],
    cancel: ['drop'],
    compact: [],
    rewind: ['list', 'to', 'branch', 'label', 'undo-files', 'dry-run', 'last'],
    end: [],
    allow: [],
    model: ['effort'],
    send: ['file'],
    queue: ['file'],
    steer: ['file'],
    export: ['format'],
  },
  fields: {
    name: 'name',
    'owner.session': 'session',
    'spec.model': 'model',
    'spec.image': 'image',
    'spec.effort': 'effort',
    'spec.program': 'with-program',
    'spec.system': 'system',
    'spec.tools': 'tool',
    'spec.mcpServers': 'mcp',
    'spec.softLimits': 'soft-limit',
    allowance: 'allow',
    softLimits: 'soft-limit',
    // What an agent below another one has, alone or as one of several.
    model: 'model',
    program: 'with-program',
    system: 'system',
    tools: 'tool',
    paths: 'path',
    'agents.model': 'model',
    'agents.program': 'with-program',
    'agents.system': 'system',
    'agents.tools': 'tool',
    'agents.paths': 'path',
    'agents.allowance': 'allow',
    'agents.softLimits': 'soft-limit',
    at: 'at',
    roots: 'root',
    until: 'until',
    maxTurns: 'max-turns',
    last: 'last',
    turn: 'to',
    branch: 'branch',
    label: 'label',
  },
  about: `
The agent works in this folder, with tools to read and change files and to run commands. Its session survives everything: kill the
daemon, and it goes on where it was. While it works, a line that you type waits for its next turn, and a line that begins with ! is
read before its next step. Ctrl-C cancels the turn; Ctrl-C again leaves, and reeve agent attach comes back.

A model is provider/model, for example anthropic/claude-opus-5-5, with a key from reeve secret set or the environment of the daemon.
scripted/demo needs no key.`,
  examples: [
    ['reeve agent "make the tests pass"', 'in a repository'],
    ['reeve agent --until "npm test" "make the tests pass"', 'again until they do'],
    ['reeve agent -d --name fixer "make the tests pass"', 'in the background'],
    ['reeve agent attach fixer', 'from any terminal'],
    ['reeve agent steer fixer "leave the lock file alone"', ''],
    ['reeve agent send fixer --file notes.md "do this"', 'with the content of a file'],
    ['reeve agent --image reviewer "review the last commit"', 'with another system prompt and other tools'],
    ['reeve agent --memory "make the tests pass"', 'it keeps what later sessions should know'],
    ['reeve agent cost fixer', 'tokens and dollars'],
    ['reeve agent allow fixer cost=5', 'five more, after a turn that ended with limit:cost'],
    ['reeve agent model fixer anthropic/claude-opus-5-5', 'another model from its next call on'],
    ['reeve agent rewind fixer', 'its turns; --to 3 --undo-files goes back to before turn 3, with its files'],
    ['reeve agent spawn fixer "write the docs"', 'an agent below fixer, which is told when it ends'],
    ['reeve agent spawn fixer "the docs" "the tests"', 'two agents, whose ends it is told together'],
    [
      'reeve agent restore fixer "and now the docs"',
      'a new agent that knows the session of one that has ended',
    ],
    [
      'reeve agent fork fixer --at 3 "another way"',
      'an agent that knows three turns of fixer, which goes on',
    ],
    ['reeve agent --with claude-code "make the tests pass"', 'Claude Code does it, in the same tree'],
    ['reeve agent --model scripted/demo "try it"', 'without a key'],
  ],
  async run(context) {
    const [first, ...rest] = context.args
    const action = first === undefined ? ACTIONS['list'] : ACTIONS[first]
    if (action !== undefined) return action(context, await context.acting(), rest)
    if (first === undefined || rest.length > 0)
      throw new UsageError(
        `reeve agent does not know ${first}.${didYouMean(first ?? '', Object.keys(ACTIONS))}`,
        'Quote the goal: reeve agent "make the tests pass"',
      )
    return startAgent(context, first)
  },
})

/** The cost of all turns, from all pages. */
async function wholeCost(reeve: ReeveVerbs, pid: string): Promise<OutputOf<'agentCost'>> {
  const first = await reeve.agentCost({ pid, limit: TURNS_PER_PAGE })
  const turns = [...first.turns]
  for (let after = first.next; after !== null; ) {
    const page: OutputOf<'agentCost'> = await reeve.agentCost({ pid, after, limit: TURNS_PER_PAGE })
    turns.push(...page.turns)
    after = page.next
  }
  return { ...first, turns, next: null }
}

const TURNS_PER_PAGE = 1_000

/** By the first argument. Anything else is a goal. */
const ACTIONS: Readonly<Record<string, Action>> = {
  list: async ({ print, options }, reeve) => {
    const { agents } = await reeve.agents({ ended: options.all })
    if (print.isJson) print.jsonList(agents)
    else printAgents(print, agents)
    return 0
  },
  show,
  attach: async (context, reeve, rest) => {
    const pid = agentIn('attach', rest)
    return watchAgent(context, reeve, pid, !context.options.follow)
  },
  cost: async ({ print }, reeve, rest) => {
    const cost = await wholeCost(reeve, agentIn('cost', rest))
    if (print.isJson) print.json(cost)
    else printCost(print, cost)
    return 0
  },
  spawn: spawnBelow,
  restore: async ({ print }, reeve, rest) => {
    const [pid, goal, ...more] = rest
    if (pid === undefined || more.length > 0)
      throw new UsageError(
        'reeve agent restore needs an agent, and at most one goal.',
        'For example: reeve agent restore fixer "and now the docs"',
      )
    const answer = await reeve.restoreAgent({ pid, ...(goal === undefined ? {} : { goal }) })
    if (print.isJson) print.json(answer)
    else print.line(answer.record.pid)
    return 0
  },
  fork: forkAgent,
  export: exportSession,
  send: (context, reeve, rest) => send(context, reeve, rest, 'run'),
  queue: (context, reeve, rest) => send(context, reeve, rest, 'queue'),
  steer: (context, reeve, rest) => send(context, reeve, rest, 'steer'),
  pause: (context, reeve, rest) => answered(context, reeve.pauseAgent({ pid: agentIn('pause', rest) })),
  resume: (context, reeve, rest) => answered(context, reeve.resumeAgent({ pid: agentIn('resume', rest) })),
  cancel: async (context, reeve, rest) => {
    const pid = agentIn('cancel', rest)
    const answer = await reeve.cancelTurn({ pid, dropQueued: context.options.drop })
    const next = nextInputText(answer, pid)
    if (next !== undefined && !context.print.isJson) context.print.aside(next)
    return answered(context, Promise.resolve(answer))
  },
  compact,
  rewind,
  allow: allowMore,
  model: changeModel,
  end: (context, reeve, rest) => answered(context, reeve.shutDownAgent({ pid: agentIn('end', rest) })),
}

async function show(context: Context<Options>, reeve: ReeveVerbs, rest: readonly string[]): Promise<number> {
  const { print } = context
  const agent = await reeve.inspectAgent({ pid: agentIn('show', rest) })
  if (print.isJson) {
    print.json(agent)
    return 0
  }
  const { bold, dim } = print.colours
  const rows: readonly (readonly [string, string])[] = [
    ['agent', `${agent.name ?? agent.pid} (${agent.phase})`],
    ...forkRows(agent),
    ['image', `${agent.image.name}@${agent.image.hash.slice(0, 12)}`],
    ['model', agent.model],
    ['workspace', agent.workspace ?? 'none'],
    ...(agent.paths === null ? [] : [['writes only', agent.paths.join(', ')] as const]),
    ['turns', String(agent.turns)],
    ['context', contextText(agent)],
    ['cost', costText(agent) || 'none yet'],
    ...allowanceRows(agent.budget),
    ...(agent.tools === null ? [] : [['tools', agent.tools.map(({ name }) => name).join(', ')] as const]),
    ['commands', agent.commands.map(({ pid, identity }) => `${pid} ${identity.label}`).join(', ') || 'none'],
    ['approvals', agent.approvals.map(({ id }) => id).join(', ') || 'none'],
    ['waiting inputs', agent.inputs.map(({ parts }) => JSON.stringify(textOf(parts))).join(', ') || 'none'],
  ]
  for (const [title, text] of rows)
    print.line(`${dim(title.padEnd(16))}${title === 'agent' ? bold(text) : text}`)
  const { lastTurn } = agent
  if (lastTurn !== null) {
    print.line(`${dim('last turn'.padEnd(16))}${turnText(lastTurn)}`)
    const missed = missedGoal(lastTurn)
    if (missed !== undefined) print.line(`${dim('goal'.padEnd(16))}${missed}`)
  }
  if (context.options.last !== undefined) await showEntries(context, reeve, agent.pid, context.options.last)
  return 0
}

function forkRows({ forkedFrom }: OutputOf<'inspectAgent'>): readonly (readonly [string, string])[] {
  if (forkedFrom === null) return []
  return [['fork of', `${forkedFrom.pid} behind turn ${forkedFrom.turn} (${forkedFrom.mode})`]]
}

/** What it and its descendants have used, and what it may still use or pass on. */
function allowanceRows(budget: OutputOf<'inspectAgent'>['budget']): readonly (readonly [string, string])[] {
  if (budget === null) return []
  const left = amountsText(budget.left)
  return [['used', usedText(budget) || 'nothing'], ...(left === undefined ? [] : [['left', left] as const])]
}

/** The last entries of the session, as `attach` prints them. */
async function showEntries(
  { print, around }: Context<Options>,
  reeve: ReeveVerbs,
  pid: string,
  last: number,
): Promise<void> {
  const page = await reeve.agentLog({ pid, last })
  print.line('')
  const printer = new SessionPrinter(print, (text) => around.stdout.write(text))
  for (const item of page.items) printer.item(item)
  printer.endLine()
}

/** Waits for the summary: it may fail, and then the session is as it was. */
async function compact(
  context: Context<Options>,
  reeve: ReeveVerbs,
  rest: readonly string[],
): Promise<number> {
  const { print } = context
  const pid = agentIn('compact', rest)
  const { turn, ...answer } = await reeve.compactAgent({ pid })
  const waited = await reeve.waitAgent({ pid, turn })
  const ended = waited.type === 'interrupted' || waited.type === 'timed_out' ? null : waited.turn
  if (print.isJson) print.json(ended ?? { ...answer, turn })
  else if (ended === null) print.line(`compacting, in turn ${turn}`)
  else print.line(ended.reason === 'finished' ? 'compacted' : turnText(ended))
  return ended === null || ended.reason === 'finished' ? 0 : FAILED
}

function contextText({
  contextTokens,
  contextWindow,
}: Awaited<ReturnType<ReeveVerbs['inspectAgent']>>): string {
  if (contextTokens === null) return 'empty'
  return contextWindow === null ? `${contextTokens} tokens` : `${contextTokens} of ${contextWindow} tokens`
}

async function send(
  context: Context<Options>,
  reeve: ReeveVerbs,
  rest: readonly string[],
  mode: 'run' | 'queue' | 'steer',
): Promise<number> {
  const [pid, text, ...more] = rest
  if (pid === undefined || text === undefined || more.length > 0)
    throw new UsageError(
      `reeve agent ${mode === 'run' ? 'send' : mode} needs an agent and one text.`,
      'For example: reeve agent send fixer "now the docs"',
    )
  return answered(context, sendTo(context, reeve, pid, text, mode))
}

async function sendTo(
  context: Context<Options>,
  reeve: ReeveVerbs,
  pid: string,
  text: string,
  mode: 'run' | 'queue' | 'steer',
): Promise<OutputOf<'runAgent'>> {
  try {
    return await reeve.runAgent({ pid, ...contentIn(context, text), mode })
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== 'already_running') throw error
    const remedy = `reeve agent queue ${pid} "…" gives it the text after this turn, reeve agent steer ${pid} "…" before its next step.`
    throw new ReeveError(error.code, error.message, remedy, { details: error.details })
  }
}

async function spawnBelow(
  { options, print }: Context<Options>,
  reeve: ReeveVerbs,
  rest: readonly string[],
): Promise<number> {
  const [parent, goal, ...more] = rest
  if (parent === undefined || goal === undefined)
    throw new UsageError(
      'reeve agent spawn needs an agent and a goal.',
      'For example: reeve agent spawn fixer "write the docs"',
    )
  const { image, model, name, system, tool, path, worktree, once, effort, allow } = options
  const { 'soft-limit': softLimit } = options
  const child = {
    ...(image === undefined ? {} : { image }),
    ...(model === undefined ? {} : { model }),
    ...outsideIn(options),
    ...(system === undefined ? {} : { system }),
    ...(effort === undefined ? {} : { effort: effortOf(effort) }),
    ...(tool.length === 0 ? {} : { tools: [...tool] }),
    ...(path.length === 0 ? {} : { paths: [...path] }),
    ...(worktree ? { workspace: { worktree } } : {}),
    ...(once ? { once } : {}),
    ...allowanceIn(allow),
    ...(softLimit.length === 0 ? {} : { softLimits: amountsIn('--soft-limit', softLimit) }),
  }
  if (more.length > 0) {
    if (name !== undefined)
      throw new UsageError('--name names one agent, and there are several goals.', 'Leave the name out.')
    const answer = await reeve.spawnAgents({
      parent,
      agents: [goal, ...more].map((one) => ({ goal: one, ...child })),
    })
    if (print.isJson) print.json(answer)
    else for (const { record } of answer.agents) print.line(record.pid)
    return 0
  }
  const answer = await reeve.spawnAgent({
    parent,
    goal,
    ...child,
    ...(name === undefined ? {} : { name }),
  })
  if (print.isJson) print.json(answer)
  else print.line(answer.record.pid)
  return 0
}

async function exportSession(
  { options, print, around }: Context<Options>,
  reeve: ReeveVerbs,
  rest: readonly string[],
): Promise<number> {
  const pid = agentIn('export', rest)
  const format = FORMATS.find((one) => one === (options.format ?? 'jsonl'))
  if (format === undefined)
    throw new UsageError(`--format was given ${options.format}.`, `It takes ${FORMATS.join(', ')}.`)
  let after = 0
  for (;;) {
    const page = await reeve.exportAgent({ pid, format, after })
    if (print.isJson) print.jsonLine(page)
    else around.stdout.write(page.text)
    if (!page.more) return 0
    after = page.after
  }
}

const FORMATS = [
  'jsonl',
  'markdown',
  'ui-messages',
] as const satisfies readonly InputOf<'exportAgent'>['format'][]

async function answered(
  { print }: Context<Options>,
  answering: Promise<{ readonly type: string }>,
): Promise<number> {
  const answer = await answering
  if (print.isJson) print.json(answer)
  else print.line(answer.type.replaceAll('_', ' '))
  return 0
}

function agentIn(action: string, [pid, ...more]: readonly string[]): string {
  if (pid !== undefined && more.length === 0) return pid
  throw new UsageError(`reeve agent ${action} takes one agent.`, 'reeve agent list shows them.')
}
