import java.nio.file.Files;
import java.nio.file.Path;
import org.jetbrains.kotlin.cli.jvm.K2JVMCompiler;

/** Runs several compilations in one process, which is faster. Each argument is a file with the arguments of one of them, one a line. */
public class Compile {
    public static void main(String[] files) throws Exception {
        for (String file : files) {
            var code = new K2JVMCompiler().exec(System.err, Files.readAllLines(Path.of(file)).toArray(new String[0]));
            if (code.getCode() != 0) System.exit(code.getCode());
        }
    }
}
