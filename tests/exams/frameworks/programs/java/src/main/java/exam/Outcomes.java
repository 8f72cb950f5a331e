package exam;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The file $EXAM_OUTCOMES, with a line for each test: its outcome, and what it saw. */
final class Outcomes {
    private static final Path FILE = Path.of(System.getenv("EXAM_OUTCOMES"));

    private Outcomes() {}

    static void add(String test, String outcome, CharSequence seen) throws IOException {
        String line = "{\"test\": " + quoted(test) + ", \"outcome\": \"" + outcome + "\", \"message\": " + quoted(seen.toString()) + "}\n";
        Files.writeString(FILE, line, StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private static String quoted(String text) {
        StringBuilder found = new StringBuilder("\"");
        for (char each : text.toCharArray()) {
            if (each == '"' || each == '\\') {
                found.append('\\').append(each);
            } else if (each < ' ' || each > '~') {
                found.append(String.format("\\u%04x", (int) each));
            } else {
                found.append(each);
            }
        }
        return found.append('"').toString();
    }
}
