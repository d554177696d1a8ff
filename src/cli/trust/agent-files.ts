import { ReeveError } from '../../core/errors.ts'
import type { OutputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { refuseInside } from '../refuse-inside.ts'
import { shortHash, showFile } from './show-file.ts'

type AgentFile = OutputOf<'trustFile'>
type Kind = AgentFile['kind']

export interface TrustOptions {
  readonly hash: string | undefined
  readonly yes: boolean
}

/** A shorter beginning of a hash could be met by a version that the person has not seen. */
const MIN_HASH_CHARS = 8

export async function listFiles(context: Context<object>, kind?: Kind): Promise<number> {
  const { print, around } = context
  const asked = kind === undefined ? {} : { kind }
  const { files } = await (await context.acting()).agentFiles({ folder: around.cwd, ...asked })
  if (print.isJson) print.jsonList(files)
  else if (files.length === 0) print.line('There are none.')
  else
    print.table(
      [
        { title: 'KIND' },
        { title: 'NAME' },
        { title: 'STATE' },
        { title: 'HASH' },
        { title: 'PATH', flexible: true },
      ],
      files.map((file) =>
        [file.kind, file.name, stateOf(file), shortHash(file.hash), file.path].map((text) => ({ text })),
      ),
    )
  return 0
}

function stateOf({ state, problem }: AgentFile): string {
  return problem === null ? state : `${state}: ${problem}`
}

/** Shows all that the file says, and trusts exactly the version that was shown. */
export async function trustOne(context: Context<TrustOptions>, path: string): Promise<number> {
  refuseInside(context, 'reeve trust')
  const { print, options } = context
  const reeve = await context.acting()
  const shown = await reeve.agentFile({ path: (await fileAt(context, path)).path })
  const { file } = shown
  if (!print.isJson) showFile(context, shown)
  if (file.state === 'trusted') {
    if (print.isJson) print.json(shown)
    else print.line('It is trusted already.')
    return 0
  }
  const { hash } = options
  const isMeant = hash !== undefined && hash.length >= MIN_HASH_CHARS && file.hash.startsWith(hash)
  if (hash !== undefined && !isMeant)
    throw new ReeveError(
      'conflict',
      `${file.path} has the hash ${shortHash(file.hash)}, and not ${hash}.`,
      'Look at it again with reeve trust.',
    )
  if (!options.yes && !isMeant) {
    if (print.isJson) print.json(shown)
    else if (file.problem !== null) print.line('\nIt cannot be trusted. Correct it first.')
    else print.line(`\nTo trust it, run reeve trust ${file.path} --hash ${shortHash(file.hash)}`)
    return 1
  }
  const trusted = await reeve.trustFile({ path: file.path, hash: file.hash })
  if (print.isJson) print.json(trusted)
  else print.line(`Trusted ${trusted.path}`)
  return 0
}

export async function untrustOne(context: Context<object>, path: string): Promise<number> {
  refuseInside(context, 'reeve trust')
  const { print } = context
  const file = await fileAt(context, path)
  const untrusted = await (await context.acting()).trustFile({ path: file.path, hash: null })
  if (print.isJson) print.json(untrusted)
  else print.line(`${untrusted.path} does nothing any more.`)
  return 0
}

/** The file of a path, as it is listed for its folder. */
async function fileAt(context: Context<object>, path: string): Promise<AgentFile> {
  const { files } = await (await context.acting()).agentFiles({ folder: folderOf(path) })
  const found = files.find((file) => file.path === path || file.path.endsWith(path))
  if (found !== undefined) return found
  throw new ReeveError(
    'not_found',
    `${path} is no image, skill, slash command or file of hooks.`,
    'List the files of the workspace with reeve trust.',
  )
}

function folderOf(path: string): string {
  return path.replace(/\/[^/]*\/*$/, '') || '/'
}
