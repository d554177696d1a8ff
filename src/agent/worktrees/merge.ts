import { RefusedError } from '../../core/errors.ts'
import { type RefusalCode, refusal } from '../../core/refusal.ts'
import type { Worktree } from '../../core/worktree/worktree.ts'
import { git, gitOrRefuse, isCheckout, pathsOf } from './git.ts'

/** A merge that was tried in the object store: the checkout has not been touched. */
export interface TriedMerge {
  readonly head: string
  readonly tip: string
  /** The tree of the result. */
  readonly tree: string
  /** The files that would change in the checkout, relative to its root. */
  readonly paths: readonly string[]
}

const MAX_NAMED = 20

/** Merges the branch with the head of the checkout, in the object store alone. Refuses conflicts, and names their files. */
export async function tryMerge(worktree: Worktree): Promise<TriedMerge> {
  const { into, branch } = worktree
  const head = await commitAt(into, 'HEAD')
  const tip = await tipOf(worktree)
  const merged = await git(into, [
    'merge-tree',
    '--write-tree',
    '--name-only',
    '--no-messages',
    '-z',
    head,
    tip,
  ])
  if (merged.code > 1)
    throw refuse('conflict', `git could not merge ${branch}: ${merged.stderr.trim()}`, 'Merge it by hand.')
  const [tree = '', ...conflicts] = pathsOf(merged.stdout)
  if (merged.code === 1)
    throw refuse(
      'conflict',
      `${branch} conflicts with ${into} in ${named(conflicts)}. Nothing was changed.`,
      'Let the agent merge the other branch into its own and solve the conflicts, or merge by hand.',
      { paths: conflicts.slice(0, MAX_NAMED) },
    )
  const changed = await gitOrRefuse(
    into,
    ['diff', '--name-only', '--no-renames', '-z', head, tree],
    'compare the merge',
  )
  return { head, tip, tree, paths: pathsOf(changed) }
}

/** The commit that the agent has there: it may have left its branch. */
async function tipOf({ folder, into, branch }: Worktree): Promise<string> {
  return (await isCheckout(folder)) ? commitAt(folder, 'HEAD') : commitAt(into, `refs/heads/${branch}`)
}

async function commitAt(into: string, revision: string): Promise<string> {
  const args = ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`]
  return (await gitOrRefuse(into, args, `find ${revision}`)).trim()
}

/** Refuses files of the merge that have changes in the checkout which are not committed. */
export async function refuseOverwriting({ into, branch }: Worktree, { paths }: TriedMerge): Promise<void> {
  const status = await gitOrRefuse(
    into,
    ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=all', '--ignored'],
    'read the status',
  )
  const dirty = new Set(pathsOf(status).map((line) => line.slice(3)))
  const touched = paths.filter((path) => isDirty(path, dirty))
  if (touched.length === 0) return
  throw refuse(
    'conflict',
    `${into} has changes that are not committed in ${named(touched)}, which ${branch} changes, too. Nothing was changed.`,
    'Commit or stash them, and merge again.',
    { paths: touched.slice(0, MAX_NAMED) },
  )
}

/** Git names an ignored folder, and not the files in it. */
function isDirty(path: string, dirty: ReadonlySet<string>): boolean {
  if (dirty.has(path)) return true
  const parts = path.split('/')
  return parts.some((_, index) => index > 0 && dirty.has(`${parts.slice(0, index).join('/')}/`))
}

/**
 * Moves the checkout to the merge. As a fast-forward: git changes the files of the merge and nothing else, or refuses as a whole. Returns
 * the commit.
 */
export async function finishMerge(
  { into, branch, name }: Worktree,
  { head, tip, tree }: TriedMerge,
): Promise<string> {
  const isAhead = (await git(into, ['merge-base', '--is-ancestor', head, tip])).code === 0
  const commit = isAhead
    ? tip
    : await commitTree(into, tree, [head, tip], `Merge ${branch}\n\nThe work of ${name}.`)
  const moved = await git(into, ['merge', '--ff-only', '--no-verify', '--quiet', commit])
  if (moved.code !== 0)
    throw refuse(
      'conflict',
      `git did not move ${into} to the merge of ${branch}: ${moved.stderr.trim().slice(0, 1_000)}`,
      'Commit or stash the changes that it names, and merge again.',
    )
  return commit
}

/** Commits all changes of a worktree. Returns whether there were any. */
export async function commitAll({ folder, name }: Worktree): Promise<boolean> {
  await gitOrRefuse(folder, ['add', '--all'], 'add the changes')
  if ((await git(folder, ['diff', '--cached', '--quiet'])).code === 0) return false
  await gitOrRefuse(
    folder,
    [...(await identity(folder)), 'commit', '--quiet', '--no-verify', '-m', `Work of ${name}`],
    'commit',
  )
  return true
}

async function commitTree(
  cwd: string,
  tree: string,
  parents: readonly string[],
  message: string,
): Promise<string> {
  const args = [
    ...(await identity(cwd)),
    'commit-tree',
    tree,
    ...parents.flatMap((one) => ['-p', one]),
    '-m',
    message,
  ]
  return (await gitOrRefuse(cwd, args, 'commit the merge')).trim()
}

/** Reeve's own name where the user has set none. */
async function identity(cwd: string): Promise<readonly string[]> {
  const { code } = await git(cwd, ['-c', 'user.useConfigOnly=true', 'var', 'GIT_COMMITTER_IDENT'])
  return code === 0 ? [] : ['-c', 'user.name=Reeve', '-c', 'user.email=reeve@localhost']
}

function named(paths: readonly string[]): string {
  const more = paths.length - MAX_NAMED
  return `${paths.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function refuse(code: RefusalCode, message: string, remedy: string, details: object = {}): RefusedError {
  return new RefusedError(refusal(code, message, remedy, { ...details }))
}
