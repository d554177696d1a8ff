/** Prefixes of variables that decide what a program loads, configures or starts. */
const PREFIXES = ['ld_', 'dyld_', 'git_', 'npm_config_', 'bash_func_', 'cargo_', 'kube']

/** Variables with these prefixes only describe a commit. */
const DESCRIPTIVE_PREFIXES = ['git_author_', 'git_committer_']

const NAMES = new Set(
  `
  path home xdg_config_home shell env bash_env ps0 ps1 ps2 ps4 prompt_command shellopts bashopts
  editor visual pager manpager manopt browser less lessopen lessclose more
  sudo_askpass ssh_askpass rsync_rsh rsync_connect_prog cvs_rsh tar_options
  makeflags gnumakeflags mflags makefiles cc cxx cpp ld ar rustc rustc_wrapper rustflags goflags
  node_options node_path pythonstartup pythonpath pythonhome pythoninspect pythonbreakpoint
  perl5opt perl5lib perllib perl5db rubyopt rubylib phprc php_ini_scan_dir
  java_tool_options _java_options jdk_java_options gconv_path
  random srandom seconds lineno bashpid epochseconds histcmd optind
  `
    .trim()
    .split(/\s+/),
)

/** Values that start nothing, or only what the name of the variable says. */
const HARMLESS_VALUES: Readonly<Record<string, RegExp>> = {
  pager: /^(cat)?$/,
  manpager: /^(cat)?$/,
  git_pager: /^(cat)?$/,
  editor: /^(true|:|cat)$/,
  visual: /^(true|:|cat)$/,
  git_editor: /^(true|:|cat)$/,
  git_sequence_editor: /^(true|:|cat)$/,
  git_terminal_prompt: /^[01]$/,
  git_merge_autoedit: /^(no|yes)$/,
  cc: /^(cc|gcc|clang)$/,
  cxx: /^(c\+\+|g\+\+|clang\+\+)$/,
  node_options: /^--max[-_]old[-_]space[-_]size=\d+$/,
}

/**
 * Whether a variable can make a shell or a program start something else: by another path, a configuration, an editor, code to
 * load, or, for the numeric variables of bash, by an expression that is evaluated when it is set. `value` is null if it is not
 * literal.
 */
export function variableRunsPrograms(name: string, value: string | null): boolean {
  const key = name.toLowerCase()
  if (value !== null && HARMLESS_VALUES[key]?.test(value)) return false
  if (DESCRIPTIVE_PREFIXES.some((prefix) => key.startsWith(prefix))) return false
  return NAMES.has(key) || PREFIXES.some((prefix) => key.startsWith(prefix))
}
