import { ANY_PERSON, ASK_TOOL, isQuestion } from '../approval/question.ts'
import type { Environment } from '../environment/environment.ts'
import { FROM_ENV, secretsNamedIn } from '../environment/secrets.ts'
import { type JsonObject, objectOf } from '../json/json.ts'
import type { RegistrationRequest } from '../process/registration-request.ts'
import { specOf } from '../process/spec.ts'
import { lastSegmentOf } from './covers.ts'
import { pathOfFile } from './file-path.ts'
import { type Need, type NeedAttributes, NO_ATTRIBUTES, type Program } from './need.ts'
import type { RuleSet } from './rule-set.ts'
import { tableOf } from './rule-table.ts'

/** The facts about a registration besides the request itself. */
export interface NeedFacts {
  /** The analysis of the command; null if it was not analysed. */
  readonly shell: AnalysedShell | null
  /** The files that the host found for programs, by the name or path as it is written. */
  readonly programs: ReadonlyMap<string, ResolvedProgram>
  /** The folder that the command starts in; null if it is not known. */
  readonly cwd: string | null
  /** The root of the workspace; null if there is none. */
  readonly workspace: string | null
  /** The names of the variables that the request sets. Those of its client's environment are not among them. */
  readonly env: readonly string[]
  /** Those of them that can make a program load or start other code, such as `PATH` and `LD_PRELOAD`. */
  readonly codeVariables: readonly string[]
  /** The request sets a `PATH` with further folders, in which the programs of the command are the same files. */
  readonly widerPath?: boolean
  /** The names of the secrets that it is given. */
  readonly secrets: readonly string[]
}

/** What a command does, as far as its text tells: every command in it, and the files that it writes by redirection. */
export type AnalysedShell = {
  readonly commands: readonly AnalysedCommand[]
  /** Null: not literal. */
  readonly writes: readonly (string | null)[]
} & (
  | { readonly type: 'commands' }
  /** It may do more than the list says. */
  | { readonly type: 'opaque'; readonly reason: string }
)

interface AnalysedCommand {
  /** As it is written. */
  readonly program: string
  /** The arguments after known global options. Null: not literal. */
  readonly args: readonly (string | null)[]
  readonly unknownOption?: boolean
  /** The names of the variables that are set for it. */
  readonly env: readonly string[]
  /** Why it cannot be known what it does. */
  readonly opaque?: string
  /** It only starts commands that are listed as well, as `nohup` does. */
  readonly transparent?: true
}

interface ResolvedProgram {
  /** After symbolic links; absolute. */
  readonly real: string
}

/** Everything that a registration would do, as far as rules know it. What an external process does is not done by Reeve. */
export function needsOf(
  request: Pick<RegistrationRequest, 'kind' | 'spec'>,
  facts: NeedFacts,
): readonly Need[] {
  const secrets = facts.secrets.map(
    (path): Need => ({ right: 'read', resource: { kind: 'secret', path }, attributes: {} }),
  )
  switch (request.kind) {
    case 'command':
      return [...needsOfCommand(facts), ...secrets]
    case 'tool':
      return [
        ...(isQuestion(request)
          ? needsOfQuestion(request.spec)
          : [executeNeed('tool', specOf(request, 'tool').tool)]),
        ...secrets,
      ]
    case 'workflow':
      return [executeNeed('workflow', specOf(request, 'workflow').workflow), ...secrets]
    case 'agent': {
      const { agent, model, fallbacks = [], memory } = specOf(request, 'agent')
      const ofMemory = typeof memory === 'object' && memory.model !== undefined ? [memory.model] : []
      const models = [...(model === undefined ? [] : [model]), ...fallbacks, ...ofMemory]
      return [executeNeed('agent', agent), ...models.map(modelNeed), ...secrets]
    }
    case 'external':
      return []
  }
}

/** What only the host that runs a command can find out about it. */
const RESOLVED_KINDS = ['shell', 'fs', 'secret'] as const

/** The names of the secrets that a process is given: those of its environment, and variables of its host that it names. */
export function secretsGivenTo(
  request: Pick<RegistrationRequest, 'kind' | 'spec'>,
  environment: Environment | null,
): readonly string[] {
  if (environment === null && request.kind !== 'command') return []
  const passed = request.kind === 'command' ? (specOf(request, 'command').passEnv ?? []) : []
  return [...new Set([...secretsNamedIn(environment), ...passed.map((name) => `${FROM_ENV}${name}`)])]
}

/** Whether the rules of these sets tell commands apart, so that the text of a command must be analysed. */
export function needsAnalysis(sets: readonly Pick<RuleSet, 'rules'>[]): boolean {
  return sets.some(({ rules }) => {
    const { byKind } = tableOf(rules)
    return RESOLVED_KINDS.some((kind) => byKind.has(kind))
  })
}

/** Commands that change the folder of those after them. */
const FOLDER_CHANGES = ['cd', 'pushd', 'popd', 'chdir']

/** Writing to these changes no file. */
const NO_FILES = ['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/tty']

const NOT_ANALYSED: AnalysedShell = {
  type: 'opaque',
  reason: 'It was not analysed.',
  commands: [],
  writes: [],
}

/** What may be any command needs a shell. */
const ANY_COMMAND: AnalysedCommand = { program: 'sh', args: [], env: [] }

function needsOfCommand(facts: NeedFacts): readonly Need[] {
  const shell = facts.shell ?? NOT_ANALYSED
  const changesFolder = shell.commands.some(({ program }) => FOLDER_CHANGES.includes(program))
  // A relative path may then be in any folder.
  const known = changesFolder ? { ...facts, cwd: null } : facts
  const opaque =
    shell.type === 'opaque' ? [needOfProgram({ ...ANY_COMMAND, opaque: shell.reason }, facts)] : []
  return [
    ...opaque,
    ...shell.commands.map((command) => needOfProgram(command, known)),
    ...shell.writes
      .filter((target) => target === null || !NO_FILES.includes(target))
      .map((target) => needOfWrite(target, known)),
  ]
}

function needOfProgram(command: AnalysedCommand, facts: NeedFacts): Need {
  const { program: written, args, unknownOption = false, env } = command
  const isPath = written.includes('/')
  const path = isPath ? pathOfFile(written, facts) : undefined
  const opaque =
    command.opaque ?? (path === null ? 'The folder of the program is not known.' : loadsCode(facts))
  const real = facts.programs.get(written)?.real
  const program: Program = {
    name: lastSegmentOf(written),
    ...(isPath ? { path: path ?? written } : {}),
    ...(real === undefined ? {} : { real: pathOfFile(real, facts) ?? real }),
  }
  return {
    right: 'execute',
    resource: { kind: 'shell', program, ...inWorkspace(facts) },
    attributes: {
      args,
      unknownOption,
      env: [...new Set([...facts.env, ...env])],
      ...(facts.widerPath === true ? { widerPath: true } : {}),
      ...(opaque !== undefined ? { opaque } : command.transparent === true ? { transparent: true } : {}),
    },
  }
}

function loadsCode({ codeVariables: [name] }: NeedFacts): string | undefined {
  return name === undefined ? undefined : `The variable ${name} can make a program run other code.`
}

function needOfWrite(target: string | null, facts: NeedFacts): Need {
  const path = target === null ? null : pathOfFile(target, facts)
  return { right: 'write', resource: { kind: 'fs', path, ...inWorkspace(facts) }, attributes: {} }
}

/** The need of an agent to call a model. */
export function modelNeed(model: string): Need {
  return { right: 'execute', resource: { kind: 'model', path: model }, attributes: IMPLIED }
}

/** A question writes to a person. Rules about its tool hold as well. */
function needsOfQuestion(spec: JsonObject): readonly Need[] {
  const { person } = objectOf(spec['input'])
  const path = typeof person === 'string' ? person : ANY_PERSON
  return [
    { right: 'write', resource: { kind: 'human', path }, attributes: IMPLIED },
    { right: 'execute', resource: { kind: 'tool', path: ASK_TOOL }, attributes: IMPLIED },
  ]
}

const IMPLIED: NeedAttributes = { implied: true }

function executeNeed(kind: 'tool' | 'workflow' | 'agent', path: string): Need {
  return { right: 'execute', resource: { kind, path }, attributes: NO_ATTRIBUTES }
}

function inWorkspace({ workspace }: NeedFacts): { readonly workspace?: string } {
  return workspace === null ? {} : { workspace }
}
