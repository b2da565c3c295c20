/**
 * Rules that every grammar of ours may name. White space is one space at most: a weak model would
 * fill the context with it. Whole numbers are those that JSON's readers hold exactly.
 */
export const primitiveRules = String.raw`
ws ::= " "?
value ::= object | array | string | number | boolean | null
object ::= "{" ws ( pair ( ws "," ws pair )* ws )? "}"
pair ::= string ws ":" ws value
array ::= "[" ws ( value ( ws "," ws value )* ws )? "]"
char ::= [^"\\\x7F\x00-\x1F] | "\\" ( ["\\/bfnrt] | "u" hex{4} )
hex ::= [0-9a-fA-F]
string ::= "\"" char* "\""
whole ::= "0" | [1-9] [0-9]{0,14}
integer ::= "-"? whole
number ::= integer ( "." [0-9]{1,16} )? ( [eE] [-+]? [0-9]{1,2} )?
boolean ::= "true" | "false"
null ::= "null"
year ::= [0-9]{4}
month ::= "0" [1-9] | "1" [0-2]
day ::= "0" [1-9] | "1" [0-9] | "2" [0-8]
clock ::= ( [01] [0-9] | "2" [0-3] ) ":" [0-5] [0-9] ":" [0-5] [0-9]
full-date ::= year "-" month "-" day
full-time ::= clock ( "." [0-9]{3} )? ( "Z" | [+-] ( "0" [0-9] | "1" [0-3] ) ":" [0-5] [0-9] )
date ::= "\"" full-date "\""
time ::= "\"" full-time "\""
date-time ::= "\"" full-date "T" full-time "\""
uuid ::= "\"" hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12} "\""
`.trim();

/** Text as a GBNF literal. */
export function literal(text: string): string {
  const escaped = text.replaceAll(/[\\"\p{Cc}]/gu, (character) => {
    const named = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
    return named ?? `\\x${character.codePointAt(0)?.toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
}
