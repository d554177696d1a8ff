import { ALNUM, HEX, UPPER_OR_DIGIT, WORD } from './characters.ts'

/** A token that is known by how it begins. What follows is masked; the beginning stays, and says what it was. */
export interface TokenShape {
  readonly prefix: string
  /** So many characters of this set must follow at least. Whatever else belongs to the word then goes with them. */
  readonly least: number
  readonly of: number
}

/** Long enough that no word of any language is taken for one. */
export const TOKEN_SHAPES: readonly TokenShape[] = [
  // AWS: keys of users, roles, and others.
  ...['AKIA', 'ASIA', 'ABIA', 'ACCA'].map((prefix) => shape(prefix, 16, UPPER_OR_DIGIT)),
  // GitHub
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((prefix) => shape(prefix, 20, ALNUM)),
  shape('github_pat_', 20),
  // GitLab
  ...['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glagent-', 'glcbt-', 'glimt-', 'glsoat-'].map((prefix) =>
    shape(prefix, 16),
  ),
  // Slack
  ...['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-', 'xapp-'].map((prefix) => shape(prefix, 11)),
  // Stripe
  ...['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'].map((prefix) => shape(prefix, 16, ALNUM)),
  // Models: Anthropic, OpenAI and those who followed, Google, Hugging Face, and others.
  ...['sk-ant-', 'sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-or-v1-', 'sk-None-'].map((prefix) =>
    shape(prefix, 16),
  ),
  shape('sk-', 32, ALNUM),
  shape('AIza', 30),
  shape('hf_', 30, ALNUM),
  shape('gsk_', 32, ALNUM),
  shape('xai-', 32, ALNUM),
  shape('pplx-', 32, ALNUM),
  shape('r8_', 32, ALNUM),
  // Google OAuth
  shape('GOCSPX-', 20),
  // Packages: npm, PyPI, RubyGems, Docker
  shape('npm_', 30, ALNUM),
  shape('pypi-', 32),
  shape('rubygems_', 32, HEX),
  shape('dckr_pat_', 20),
  // Clouds and services
  ...['dop_v1_', 'doo_v1_', 'dor_v1_'].map((prefix) => shape(prefix, 32, HEX)),
  ...['shpat_', 'shpca_', 'shppa_', 'shpss_'].map((prefix) => shape(prefix, 32, ALNUM)),
  ...['sq0atp-', 'sq0csp-'].map((prefix) => shape(prefix, 20)),
  shape('dapi', 32, HEX),
  shape('lin_api_', 32, ALNUM),
  shape('ntn_', 32, ALNUM),
  shape('figd_', 32),
  shape('sbp_', 32, HEX),
  shape('pscale_tkn_', 32),
  shape('PMAK-', 32),
  shape('NRAK-', 20, UPPER_OR_DIGIT),
  ...['glc_', 'glsa_'].map((prefix) => shape(prefix, 30)),
  ...['sntrys_', 'sntryu_'].map((prefix) => shape(prefix, 30)),
  shape('ATATT3', 40),
  shape('key-', 32, HEX),
  shape('AGE-SECRET-KEY-1', 40, UPPER_OR_DIGIT),
  // Reeve's own
  shape('rv_', 40),
]

/** The same where a dot ends the beginning: SendGrid, Vault, Google's access tokens. */
export const DOTTED_SHAPES: readonly TokenShape[] = [
  shape('SG.', 16),
  shape('hvs.', 20),
  shape('hvb.', 20),
  shape('ya29.', 20),
]

function shape(prefix: string, least: number, of: number = WORD): TokenShape {
  return { prefix, least, of }
}
