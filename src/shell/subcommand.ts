import type { Args } from './analysis.ts'
import { baseNameOf } from './token.ts'

/** The arguments that a rule on `git push` is compared with. */
export interface RuleArgs {
  /** The subcommand and everything behind it. */
  readonly args: Args
  /**
   * Whether the subcommand is not certain: an unknown option, text that is not literal, or a name that may be an alias or a
   * plugin. Then every ask and deny rule for the program matches, and no allow rule with arguments.
   */
  readonly unknownOption: boolean
}

interface Tool {
  readonly flags: ReadonlySet<string>
  /** Options with a value in the next argument. The long ones may have it behind `=`. */
  readonly valued: ReadonlySet<string>
  /** Long options that have a value only behind `=`. */
  readonly attached?: ReadonlySet<string>
  /** Others may be aliases or plugins. Without a list, every name is a subcommand. */
  readonly subcommands?: ReadonlySet<string>
}

const TOOLS: Readonly<Record<string, Tool>> = {
  git: {
    flags: words(`-p --paginate -P --no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs
      --noglob-pathspecs --icase-pathspecs --no-optional-locks --no-lazy-fetch --no-advice -h --help -v --version --html-path
      --man-path --info-path --exec-path`),
    valued: words('-C -c --git-dir --work-tree --namespace --super-prefix --attr-source --config-env'),
    attached: words('--exec-path --list-cmds'),
    subcommands:
      words(`add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap
      check-ref-format checkout cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects
      credential describe diff diff-files diff-index diff-tree difftool fast-export fast-import fetch filter-branch fmt-merge-msg
      for-each-ref for-each-repo format-patch fsck gc get-tar-commit-id grep hash-object help hook index-pack init init-db
      instaweb interpret-trailers log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file
      merge-index merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes pack-objects pack-refs patch-id prune
      pull push range-diff read-tree rebase reflog remote repack replace request-pull rerere reset restore rev-list rev-parse
      revert rm send-email shell shortlog show show-branch show-index show-ref sparse-checkout stage stash status
      stripspace submodule switch symbolic-ref tag unpack-objects update-index update-ref var verify-commit verify-pack
      verify-tag version whatchanged worktree write-tree`),
  },
  npm: {
    flags:
      words(`-s --silent -q --quiet -d -dd -ddd --verbose -g --global -f --force -y --yes --json -l --long --no-color --offline
      --prefer-offline --prefer-online --ignore-scripts --no-audit --no-fund --no-progress -ws --workspaces -iwr
      --include-workspace-root --legacy-peer-deps --dry-run -h --help -v --version -D -S -E -P --save-dev --save --save-exact`),
    valued: words(
      '--prefix -C --loglevel -w --workspace --registry --cache --omit --include --tag --otp --access',
    ),
    attached: words('--color --audit --fund --progress'),
    subcommands:
      words(`access add add-user adduser audit author bugs c cache ci cit clean-install completion config create ddp dedupe
      deprecate diff dist-tag dist-tags docs doctor edit exec explain explore find find-dupes fund get help help-search home hook i
      ic in info init innit ins inst insta instal install install-ci-test install-test isnt isnta isntal isntall issues it la link
      list ll ln login logout ls org outdated owner pack ping pkg prefix profile prune publish query r rb rebuild remove repo
      restart rm root rum run run-script s sbom se search set shrinkwrap show sit star stars start stop t team test token trust
      tst udpate un uninstall unlink unpublish unstar up update upgrade urn v version view whoami why x`),
  },
  pnpm: {
    flags: words(
      '-r --recursive -s --silent --stream --parallel -w --workspace-root --offline --color --no-color -h --help -v --version',
    ),
    valued: words('-C --dir -F --filter --loglevel --reporter'),
    // Others are scripts of the project or programs.
    subcommands:
      words(`add approve-builds audit bin cat-file config create dedupe deploy dlx doctor env exec fetch i import info init
      install it licenses link list ll ln ls outdated pack patch patch-commit prune publish rebuild remove restart rm root run
      self-update server setup start store t test un uninstall unlink up update upgrade view why`),
  },
  yarn: {
    flags: words(
      '-s --silent --json --offline --verbose --prefer-offline -h --help -v --version --non-interactive',
    ),
    valued: words('--cwd --cache-folder --registry --mutex'),
  },
  docker: {
    flags: words('-D --debug --tls --tlsverify -v --version -h --help'),
    valued: words('--config -c --context -H --host -l --log-level --tlscacert --tlscert --tlskey'),
    subcommands:
      words(`attach build builder buildx checkpoint commit compose config container context cp create diff events exec export
      history image images import info init inspect kill load login logout logs manifest network node pause plugin port ps pull
      push rename restart rm rmi run save scout search secret service stack start stats stop swarm system tag top trust unpause
      update version volume wait`),
  },
  kubectl: {
    flags:
      words(`--insecure-skip-tls-verify --match-server-version --warnings-as-errors --disable-compression -h --help
      --alsologtostderr --logtostderr`),
    valued:
      words(`-n --namespace -s --server --context --cluster --user --kubeconfig --token --as --as-group --as-uid --cache-dir
      --certificate-authority --client-certificate --client-key --password --username --profile --profile-output --request-timeout
      --tls-server-name -v --v --vmodule`),
    attached: words(
      '--insecure-skip-tls-verify --match-server-version --warnings-as-errors --disable-compression',
    ),
    subcommands:
      words(`alpha annotate api-resources api-versions apply attach auth autoscale certificate cluster-info completion config
      cordon cp create debug delete describe diff drain edit events exec explain expose get help kustomize label logs options patch
      plugin port-forward proxy replace rollout run scale set taint top uncordon version wait`),
  },
}

/** The arguments from the subcommand on. Programs without a table have all of theirs. */
export function argsForRules(program: string, args: Args): RuleArgs {
  const name = baseNameOf(program)
  const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined
  if (tool === undefined) return { args, unknownOption: false }
  const { index, isKnown } = findSubcommand(tool, args)
  const subcommand = args[index]
  const isListed = subcommand == null || tool.subcommands === undefined || tool.subcommands.has(subcommand)
  return { args: args.slice(index), unknownOption: !isKnown || !isListed }
}

/** Skips the options before the subcommand. `isKnown` is false from the first argument on that may be anything. */
function findSubcommand(tool: Tool, args: Args): { readonly index: number; readonly isKnown: boolean } {
  let index = 0
  while (index < args.length) {
    const value = args[index]
    if (value == null) return { index, isKnown: false }
    if (!value.startsWith('-') || value === '-') return { index, isKnown: value !== '-' }
    const end = value.startsWith('--') ? value.indexOf('=') : -1
    const option = end === -1 ? value : value.slice(0, end)
    const takesAttached = end !== -1 && (tool.valued.has(option) || tool.attached?.has(option) === true)
    if (takesAttached || (end === -1 && tool.flags.has(option))) index += 1
    else if (end === -1 && tool.valued.has(option) && args[index + 1] != null) index += 2
    else return { index, isKnown: false }
  }
  return { index, isKnown: true }
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}
