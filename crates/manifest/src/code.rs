//! The codes of problems: stable, one for each thing that can be wrong.

macro_rules! codes {
    ($($variant:ident = $code:literal, $meaning:literal;)*) => {
        /// What is wrong, as a stable code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $meaning] $variant,)*
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &[Code] = &[$(Code::$variant,)*];

            /// The code as printed.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $code,)* }
            }

            /// What it stands for.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning,)* }
            }
        }
    };
}

codes! {
    Syntax = "E-M001", "the file is neither YAML nor JSON";
    TooLarge = "E-M002", "the file is larger than 1 MiB";
    TooDeep = "E-M003", "lists and mappings nest deeper than 32";
    TooManyDocuments = "E-M004", "the file holds more than 10,000 documents";
    ControlCharacter = "E-M005", "a NUL or control character";
    Anchor = "E-M006", "an anchor or alias";
    Tag = "E-M007", "a tag such as `!!str`";
    DuplicateKey = "E-M008", "a key is given twice in one mapping";
    BadKey = "E-M009", "a key that is not text";
    NotAMapping = "E-M010", "a document that is not a mapping";
    UnknownKind = "E-M011", "a kind that this version does not know or not run";
    UnknownKey = "E-M020", "an unknown key";
    MissingKey = "E-M021", "a required key is missing";
    WrongType = "E-M022", "a value of the wrong type";
    OutOfRange = "E-M023", "a number outside its range";
    Empty = "E-M024", "an empty text, list or mapping where something must stand";
    ListedTwice = "E-M025", "the same element twice in one list";
    UnknownWord = "E-M026", "a word that is not one of the known ones";
    BadName = "E-M030", "a text that is not a name";
    BadSpan = "E-M031", "a text that is not a span of time";
    BadSize = "E-M032", "a text that is not a size";
    BadTemplate = "E-M033", "a template with an unknown name or filter, or never closed";
    BadCheck = "E-M034", "a check that cannot be read";
    BadVariable = "E-M035", "a text that is not the name of a variable";
    ReservedVariable = "E-M036", "a variable that Muster sets itself";
    VariableClash = "E-M037", "a variable that is set in two ways";
    BadReference = "E-M038", "a text that is not the reference of a secret";
    BadPattern = "E-M039", "an artifact path that is not a pattern below the output folder";
    BadLocation = "E-M040", "a location that is not a folder's path";
    BadParameter = "E-M041", "a parameter whose default, values or bounds do not fit its type";
    BadExitCode = "E-M042", "a key that is not an exit code";
    DeclaredTwice = "E-M050", "two definitions of one kind and name";
    UnknownTier = "E-M051", "a tier that nothing declares";
    UnknownLimit = "E-M052", "a limit that nothing declares";
    UnknownUnit = "E-M053", "a needed unit that nothing declares";
    UnknownParameter = "E-M054", "a parameter that the unit does not declare";
    NeedCycle = "E-M055", "units that need each other in a circle";
    TooMany = "E-M060", "more problems in this file than are worth listing";
    NoEffect = "E-M070", "a warning: a setting without effect";
    NotRead = "E-M071", "a warning: a file that was left out, and may have been meant as a manifest";
}
