import type { Need } from '../capability/need.ts'

/** A program that destroys something, with these words among its arguments. */
interface Destructive {
  readonly program: string
  /** The first arguments; each may be a choice. Any if left out. */
  readonly first?: readonly (readonly string[])[]
  /** One of these anywhere behind them. None is needed if left out. */
  readonly options?: readonly string[]
}

/** Commands that cannot be undone. The list need not be complete: it only decides which answer is the default. */
const DESTRUCTIVE: readonly Destructive[] = [
  ...['rm', 'rmdir', 'shred', 'unlink', 'dd', 'wipefs', 'fdisk', 'parted', 'sfdisk', 'truncate'].map(
    (program) => ({ program }),
  ),
  ...['reboot', 'shutdown', 'poweroff', 'halt', 'userdel', 'killall', 'pkill'].map((program) => ({
    program,
  })),
  { program: 'find', options: ['-delete'] },
  { program: 'rsync', options: ['--delete', '--delete-after', '--delete-before', '--delete-excluded'] },
  {
    program: 'git',
    first: [['push']],
    options: ['--force', '-f', '--force-with-lease', '--delete', '-d', '--mirror', '--prune'],
  },
  { program: 'git', first: [['reset']], options: ['--hard'] },
  { program: 'git', first: [['clean', 'filter-branch']] },
  { program: 'git', first: [['checkout', 'restore']], options: ['.', '--', '-f', '--force'] },
  { program: 'git', first: [['branch', 'tag']], options: ['-D', '-d', '--delete'] },
  { program: 'git', first: [['stash'], ['drop', 'clear']] },
  { program: 'git', first: [['reflog'], ['expire', 'delete']] },
  { program: 'kubectl', first: [['delete', 'drain', 'replace']] },
  { program: 'helm', first: [['uninstall', 'delete', 'rollback']] },
  { program: 'docker', first: [['rm', 'rmi', 'kill']] },
  {
    program: 'docker',
    first: [
      ['system', 'volume', 'image', 'container', 'network', 'builder'],
      ['prune', 'rm'],
    ],
  },
  { program: 'docker', first: [['compose'], ['down', 'rm']] },
  { program: 'podman', first: [['rm', 'rmi', 'kill', 'prune']] },
  ...['npm', 'pnpm', 'yarn'].map((program) => ({ program, first: [['publish', 'unpublish', 'deprecate']] })),
  { program: 'cargo', first: [['publish', 'yank']] },
  { program: 'twine', first: [['upload']] },
  { program: 'gem', first: [['push', 'yank']] },
  { program: 'terraform', first: [['apply', 'destroy']] },
  { program: 'tofu', first: [['apply', 'destroy']] },
  { program: 'pulumi', first: [['up', 'destroy']] },
  { program: 'gh', first: [['repo', 'release', 'issue', 'secret', 'workflow'], ['delete']] },
  { program: 'aws', options: ['rm', 'rb', 'delete-bucket', 'terminate-instances', 'delete-stack'] },
  { program: 'gcloud', options: ['delete'] },
  { program: 'dropdb' },
  { program: 'dropuser' },
  { program: 'crontab', options: ['-r'] },
  { program: 'systemctl', first: [['stop', 'disable', 'mask', 'kill', 'reboot', 'poweroff']] },
]

const BY_PROGRAM = Map.groupBy(DESTRUCTIVE, ({ program }) => program)

/** Whether an action destroys something, as far as its text tells: then no is the default answer. */
export function isDestructive(needs: readonly Need[]): boolean {
  return needs.some(({ right, resource, attributes }) => {
    if (right === 'delete') return true
    if (resource.kind !== 'shell') return false
    const { name, real } = resource.program
    const names = [name, real === undefined ? name : real.slice(real.lastIndexOf('/') + 1)]
    if (names.some((one) => one.startsWith('mkfs') || one.startsWith('mkswap'))) return true
    const args = attributes.args ?? []
    return names.some((one) => BY_PROGRAM.get(one)?.some((entry) => isMatched(entry, args)) === true)
  })
}

/** An argument that is not literal may be any. */
function isMatched({ first = [], options }: Destructive, args: readonly (string | null)[]): boolean {
  const isFirst = first.every((choices, index) => {
    const arg = args[index]
    return arg === null || (arg !== undefined && choices.includes(arg))
  })
  if (!isFirst) return false
  return (
    options === undefined || args.slice(first.length).some((arg) => arg === null || isOption(arg, options))
  )
}

/** `-df` has the short options `-d` and `-f`. */
function isOption(arg: string, options: readonly string[]): boolean {
  const [name = arg] = arg.split('=')
  if (options.includes(name)) return true
  return (
    /^-[A-Za-z]{2,}$/.test(arg) &&
    options.some((option) => /^-[A-Za-z]$/.test(option) && arg.includes(option.slice(1)))
  )
}
